import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { validateObject, type EvidenceEntry } from '@agent-exchange/protocol'
import {
  draftPackage,
  freshId,
  organizations,
  sendPackage,
  sendReceipt,
  sendRevocation,
  startWorld,
  submit,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const [sender, recipient] = await organizations(world, 'cars', 'seats')

/** Ids that another implementation may choose, or that an attacker would. */
const IDS = [
  '7',
  'f81d4fae-7dec-11d0-a765-00a0c91e6bf6',
  'urn:uuid:f81d4fae',
  'x'.repeat(200),
  '-rf',
  '...',
  '..;a',
  'a+b&c=d;e,f@g',
  '$(reboot)`reboot`',
  '\\..\\"\'{a,b}',
  '<script>alert(1)<',
  '__proto__',
]

test('[OBJ-01][O-14][PKG-04][PKG-09] a package, its receipts and its response work under any id', async (t) => {
  for (const id of IDS) {
    await t.test(id, async () => {
      const threadId = freshId('thread')
      const { metadata } = await sendPackage(sender, recipient, {
        threadId,
        metadata: { package_id: id, policy_receipt_id: id },
      })
      assert.equal(
        (await sendReceipt(recipient, metadata, 'received', { change: { receipt_id: id } })).status,
        201,
      )
      const inPath = encodeURIComponent(id)
      const found = await recipient.get(`/v1/packages/${inPath}`)
      assert.equal(found.body['package_id'], id)
      const download = await fetch(String(found.body['ciphertext_download_url']), {
        headers: { authorization: `Bearer ${await recipient.token()}` },
      })
      assert.equal(download.status, 200)
      const receipt = await recipient.get(`/v1/policy-receipts/${inPath}`)
      assert.equal((receipt.body['receipt'] as Record<string, unknown>)['policy_receipt_id'], id)

      const responseId = `${id.slice(0, 190)}~response`
      await sendPackage(recipient, sender, {
        threadId,
        respondsTo: id,
        metadata: { package_id: responseId, policy_receipt_id: responseId },
      })
      const evidence = await sender.get(`/v1/audit/packages/${inPath}`)
      const entries = evidence.body['entries'] as readonly EvidenceEntry[]
      const kinds = new Set(entries.map(({ proof }) => proof.kind))
      for (const kind of ['package_accepted', 'receipt_received', 'content_fetched', 'response_accepted'])
        assert.ok(kinds.has(kind), kind)
      const events = entries.flatMap(({ event }) => event ?? [])
      for (const event of events) assert.deepEqual(validateObject(event).failures, [])
      assert.deepEqual(
        new Set(events.map(({ target }) => `${target.object_type} ${target.object_id}`)),
        new Set([`package ${id}`]),
      )
      const shown = await world.operate('GET', `/packages/${inPath}`)
      assert.deepEqual([shown.status, shown.body['state']], [200, 'responded'])
      const search = await world.operate('GET', `/search?id=${inPath}`)
      assert.deepEqual(
        (search.body['items'] as readonly { kind: string }[]).map(({ kind }) => kind).toSorted(),
        ['package', 'package_receipt', 'policy_receipt'],
      )
    })
  }
})

test('[PKG-10][O-14] a package under any id can be revoked', async () => {
  for (const id of ['8', 'urn:8', '\\8'])
    assert.equal(
      (
        await sendRevocation(
          sender,
          (await sendPackage(sender, recipient, { metadata: { package_id: id } })).metadata,
        )
      ).status,
      200,
    )
})

test('[O-14] an id that could change a path, or is too long, is refused with its place', async () => {
  for (const id of ['.', '..', 'a/b', 'a?b', 'a#b', 'a%2fb', 'a b', 'ä', '', 'x'.repeat(201)]) {
    const draft = await draftPackage(sender, recipient, { metadata: { package_id: id } })
    const { receipt } = await draftPackage(sender, recipient)
    for (const [path, body, pointer] of [
      ['/v1/policy-receipts', { ...receipt, policy_receipt_id: id }, '/policy_receipt_id'],
      ['/v1/policy-receipts', draft.receipt, '/package_id'],
      ['/v1/packages', draft.body, '/payload/metadata/package_id'],
    ] as const) {
      const answer = await sender.post(path, body)
      assert.equal(answer.body['code'], 'validation_failed', `${id} ${answer.text}`)
      const { failures } = answer.body['details'] as { failures: { pointer: string; rule: string }[] }
      assert.deepEqual([failures[0]?.pointer, failures[0]?.rule], [pointer, 'O-14'])
    }
  }
  const thread = await draftPackage(sender, recipient, { threadId: 'urn:thread' })
  assert.equal((await submit(sender, thread)).body['code'], 'validation_failed')
})
