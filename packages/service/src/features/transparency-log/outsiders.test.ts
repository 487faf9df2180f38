import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeBundle, chainRecordLabel, chainRecordLeaf, tilePath } from '@agent-exchange/log'
import type { PolicyReceipt } from '@agent-exchange/protocol'
import { assertProblem, organizations, sendPackage, sendReceipt, startWorld } from '@agent-exchange/testkit'
import { toLogBatch } from '../../kernel/log-batch.ts'
import { provedItems, publishedStatus, QUICK_LOG } from './quick-log.fixture.ts'

const world = await startWorld({ profile: QUICK_LOG, config: { role: 'all' } })
after(() => world[Symbol.asyncDispose]())
const [seats, cars, outsider] = await organizations(world, 'seats', 'cars', 'outsider')
const { metadata } = await sendPackage(seats, cars)
await sendReceipt(cars, metadata, 'received')
await sendReceipt(cars, metadata, 'opened')
const size = Number((await publishedStatus(world))['size'])

/** Entries as anybody with an access token reads them. */
async function entriesFor(by: typeof outsider): Promise<Buffer[]> {
  const headers = { authorization: `Bearer ${await by.token()}` }
  const path = tilePath({ level: 'entries', index: 0, width: size })
  const answer = await fetch(`${world.url}/log/${path}`, { headers })
  assert.equal(answer.status, 200)
  return decodeBundle(new Uint8Array(await answer.arrayBuffer()), size).map((entry) => Buffer.from(entry))
}

const labelsWith = (receiptSignature: string) =>
  Array.from({ length: 20 }, (_, at) =>
    Buffer.from(
      chainRecordLabel({
        packageId: metadata.package_id,
        contentDigest: metadata.content_digest,
        receiptSignature,
        firstPosition: at + 1,
      }),
    ).toString('hex'),
  )

/** Every text of 64 bytes in base64 or base64url: what could be taken for a signature. */
function signaturesIn(text: string): string[] {
  return (text.match(/[A-Za-z0-9+/_-]{86,}={0,2}/gu) ?? []).filter(
    (each) => Buffer.from(each, 'base64url').length === 64,
  )
}

test('[AUD-01] whoever holds every notification and a token for the tiles finds no leaf of the package', async () => {
  const labels = new Set((await entriesFor(outsider)).map((entry) => entry.subarray(0, 32).toString('hex')))
  const { body } = await cars.get(`/v1/policy-receipts/${metadata.policy_receipt_id}`)
  const receipt = body['receipt'] as PolicyReceipt
  const own = labelsWith(receipt.signature.signature).filter((label) => labels.has(label))
  assert.equal(own.length, 3, 'the party finds the three records')

  const notifications = await world.sql<{ body: string }[]>`select body from notification`
  const known = notifications.map((each) => each.body).join('\n')
  assert.ok(known.includes(metadata.package_id) && known.includes(metadata.content_digest))
  const candidates = [...signaturesIn(known), Buffer.alloc(64).toString('base64url')]
  assert.deepEqual(
    candidates.flatMap(labelsWith).filter((label) => labels.has(label)),
    [],
  )
  assert.ok(!known.includes(receipt.signature.signature))
})

test('[AUD-01] an outsider gets no salt, no index and no proof of a record of others', async () => {
  for (const query of [`thread_id=${metadata.thread_id}`, `package_id=${metadata.package_id}`])
    assertProblem(await outsider.get(`/log/records?${query}`), 'resource_not_found', {})
  for (const party of [seats, cars]) {
    const { items } = await provedItems(party, `/log/records?thread_id=${metadata.thread_id}`, 'records')
    assert.equal(items.length, 3)
    const shown = JSON.stringify(items)
    const secrets = await world.sql<{ secret: Buffer }[]>`select secret from log_batch`
    for (const { secret } of secrets)
      for (const form of ['hex', 'base64', 'base64url'] as const)
        assert.ok(!shown.includes(secret.toString(form)), 'a batch secret opens leaves of others')
  }
})

test('[AUD-01] equal records share a label and never a commitment', () => {
  const record = {
    packageId: metadata.package_id,
    contentDigest: metadata.content_digest,
    receiptSignature: Buffer.alloc(64, 1).toString('base64url'),
    firstPosition: 1,
    lastPosition: 1,
    linkBefore: new Uint8Array(32),
    lastLink: new Uint8Array(32).fill(1),
  }
  const batches = [
    toLogBatch([record, record], chainRecordLeaf),
    toLogBatch([record, record], chainRecordLeaf),
  ]
  const leaves = batches.flatMap((batch) => batch.leaves.map((leaf) => Buffer.from(leaf)))
  assert.equal(new Set(leaves.map((leaf) => leaf.subarray(0, 32).toString('hex'))).size, 1)
  assert.equal(new Set(leaves.map((leaf) => leaf.subarray(32).toString('hex'))).size, 4)
})
