import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { canonicalBytes, importPublicJwk, sha256Digest } from '@agent-exchange/crypto'
import {
  bodyHash,
  chainRecordLeaf,
  chainStart,
  entryBody,
  leafHash,
  nextLink,
  openCheckpoint,
  parseProof,
  parseVerifierKey,
  verifyInclusion,
  verifyPackageHead,
  type PackageHead,
} from '@agent-exchange/log'
import type {
  EvidenceEntry,
  HiddenEvidenceEntry,
  PackageEvidence,
  PackageMetadata,
  PublicKey,
} from '@agent-exchange/protocol'
import {
  assertProblem,
  assertSuccess,
  organizations,
  sendPackage,
  sendReceipt,
  sendRevocation,
  startWorld,
  type Organization,
} from '@agent-exchange/testkit'
import { openDatabase } from '@agent-exchange/database'
import { checkAuditChains } from '../backup/check-audit-chains.ts'
import { provedItems, QUICK_LOG } from '../transparency-log/quick-log.fixture.ts'

const world = await startWorld({ profile: QUICK_LOG, config: { role: 'all' }, evidenceVersion: 2 })
after(() => world[Symbol.asyncDispose]())
const [seats, cars, steel] = await organizations(world, 'seats', 'cars', 'steel')

const db = openDatabase({ target: world.databaseUrl, maximumConnections: 1, applicationName: 'test' })
after(() => db.end())

async function evidenceOf(by: Organization, packageId: string): Promise<PackageEvidence> {
  const answer = await by.get(`/v1/audit/packages/${packageId}`)
  assertSuccess(answer, 'getPackageAuditEvidence')
  return answer.body as unknown as PackageEvidence
}

/** An endpoint of the organization, and a replay of the delivery of this package to it. */
async function replayTo(owner: Organization, send: () => Promise<PackageMetadata>): Promise<PackageMetadata> {
  const endpoint = await owner.post('/v1/webhook-endpoints', {
    url: 'https://receiver.example/hook',
    event_types: ['package.accepted'],
  })
  const metadata = await send()
  for (let tries = 0; tries < 100; tries++) {
    const [delivery] = await world.sql<{ delivery_id: string }[]>`
      update delivery set state = 'dead', attempt = 7, finished_at = ${world.clock.now()}
      where webhook_endpoint_id = ${String(endpoint.body['webhook_endpoint_id'])}
        and package_id = ${metadata.package_id} returning delivery_id`
    const { status } = await world.operate('POST', `/deliveries/${delivery?.delivery_id}/replay`, {
      reason: 'a private reason',
    })
    if (status === 201) return metadata
    // A worker had claimed the delivery, and has changed its state since.
    await sleep(20)
  }
  throw new Error('the delivery was not replayed')
}

type Shown = EvidenceEntry | HiddenEvidenceEntry

function bodyHashOf(entry: Shown): Uint8Array {
  if (!('proof' in entry)) return Buffer.from(entry.chain.body_hash, 'hex')
  const { event, proof } = entry
  return bodyHash(entryBody({ event, proof }))
}

/** The links of a chain from 0 on, recomputed from what a party sees. */
function recomputed({ package: shown, policy_receipt: receipt, ...evidence }: PackageEvidence) {
  const { metadata } = shown
  const subject = {
    packageId: metadata.package_id,
    threadId: metadata.thread_id,
    contentDigest: metadata.content_digest,
    receiptSignature: receipt.receipt.signature.signature,
  }
  const entries: Shown[] = [...evidence.entries, ...(evidence.hidden_entries ?? [])].toSorted(
    (a, b) => a.position - b.position,
  )
  const links = [chainStart(subject)]
  for (const [index, entry] of entries.entries()) {
    const previous = links[index] as Uint8Array
    const { chain } = entry
    assert.ok(chain)
    assert.deepEqual([chain.package_id, chain.position], [metadata.package_id, index + 1])
    assert.equal(chain.previous_hash, Buffer.from(previous).toString('hex'))
    const kind = 'proof' in entry ? entry.proof.kind : entry.kind
    const link = nextLink(previous, {
      position: index + 1,
      kind,
      visibility: chain.visibility,
      bodyHash: bodyHashOf(entry),
    })
    assert.equal(chain.hash, Buffer.from(link).toString('hex'))
    links.push(link)
  }
  return { subject, links, entries }
}

/** Two packages in turns, with receipts, a response and a revocation between them. */
async function busyThread() {
  const first = (await sendPackage(seats, cars)).metadata
  const { thread_id: threadId } = first
  const second = (await sendPackage(seats, cars, { threadId })).metadata
  await sendReceipt(cars, first, 'received')
  await sendReceipt(cars, second, 'received')
  await sendReceipt(cars, first, 'opened')
  const answer = (await sendPackage(cars, seats, { threadId, respondsTo: first.package_id })).metadata
  const again = (await sendPackage(cars, seats, { threadId, respondsTo: first.package_id })).metadata
  await sendRevocation(seats, second)
  return { threadId, first, second, answer, again }
}
const thread = await busyThread()

test('[AUD-01][AUD-03] each package has a chain of its own, without gaps, that both parties recompute', async () => {
  for (const { package_id } of [thread.first, thread.second, thread.answer, thread.again]) {
    const [mine, theirs] = [await evidenceOf(seats, package_id), await evidenceOf(cars, package_id)]
    assert.deepEqual(mine.entries, theirs.entries)
    assert.deepEqual(mine.hidden_entries, [])
    recomputed(mine)
    for (const { proof } of mine.entries) {
      assert.equal(proof.hash, undefined)
      assert.equal(proof.previous_hash, undefined)
    }
  }
  const kinds = (await evidenceOf(seats, thread.first.package_id)).entries.map(({ proof }) => proof.kind)
  assert.deepEqual(kinds.slice(-4), [
    'receipt_received',
    'receipt_opened',
    'response_accepted',
    'response_accepted',
  ])
  const { entries } = (await seats.get(`/v1/audit/threads/${thread.threadId}`)).body as {
    entries: EvidenceEntry[]
  }
  assert.deepEqual(
    entries.map(({ position }) => position),
    entries.map((_, index) => index + 1),
  )
})

test('[AUD-01] the platform signs the digest of all metadata in its acceptance', async () => {
  const { entries, package: shown } = await evidenceOf(cars, thread.first.package_id)
  const accepted = entries.find(({ proof }) => 'acceptance' in proof)
  const acceptance = accepted && (Reflect.get(accepted.proof, 'acceptance') as Record<string, unknown>)
  assert.equal(acceptance?.['metadata_digest'], await sha256Digest(canonicalBytes(shown.metadata)))
})

test('[AUD-01][EVT-12] the other party of a replay gets a placeholder, and every leaf verifies with it', async () => {
  const metadata = await replayTo(cars, async () => (await sendPackage(seats, cars)).metadata)
  await sendReceipt(cars, metadata, 'received')
  const [mine, theirs] = [
    await evidenceOf(seats, metadata.package_id),
    await evidenceOf(cars, metadata.package_id),
  ]
  assert.deepEqual(
    mine.hidden_entries?.map(({ kind, chain }) => [kind, chain.position, chain.visibility]),
    [['delivery_replayed', 5, 'one']],
  )
  assert.equal(JSON.stringify(mine).includes('a private reason'), false)
  assert.equal(theirs.entries.at(4)?.proof.kind, 'delivery_replayed')
  assert.deepEqual(theirs.hidden_entries, [])
  const { verifier_keys } = (await seats.get('/log/key')).body as { verifier_keys: string[] }
  const key = parseVerifierKey(verifier_keys[0] ?? '')
  for (const [party, evidence] of [[seats, mine] as const, [cars, theirs] as const]) {
    const { subject, links } = recomputed(evidence)
    const { items } = await provedItems(party, `/log/records?package_id=${metadata.package_id}`, 'records')
    const covered: number[] = []
    for (const item of items) {
      const { salt, proof, chain } = item as unknown as {
        salt: string
        proof: string
        chain: { first_position: number; last_position: number }
      }
      const { first_position: first, last_position: last } = chain
      const leaf = chainRecordLeaf(
        {
          ...subject,
          firstPosition: first,
          lastPosition: last,
          linkBefore: links[first - 1] as Uint8Array,
          lastLink: links[last] as Uint8Array,
        },
        Buffer.from(salt, 'base64url'),
      )
      const { index, hashes, checkpoint } = parseProof(proof)
      const { size, root } = await openCheckpoint(checkpoint, [key])
      verifyInclusion({ index, size, root, leafHash: leafHash(leaf), proof: hashes })
      for (let position = first; position <= last; position++) covered.push(position)
    }
    assert.deepEqual(
      covered,
      links.slice(1).map((_, index) => index + 1),
    )
  }
})

test('[AUD-01] pages of evidence hold placeholders in their place, and strangers to the package get none', async () => {
  const { thread_id: threadId } = (await sendPackage(seats, cars)).metadata
  const metadata = await replayTo(cars, async () => (await sendPackage(seats, cars, { threadId })).metadata)
  await sendPackage(seats, steel, { threadId })
  const positions: number[] = []
  let cursor = ''
  do {
    const { body } = await seats.get(`/v1/audit/threads/${threadId}?limit=1${cursor}`)
    const page = body as unknown as PackageEvidence
    const items: Shown[] = [...page.entries, ...(page.hidden_entries ?? [])]
    assert.ok(items.length <= 1)
    positions.push(...items.map(({ position }) => position))
    cursor = page.next_cursor === null ? '' : `&after=${encodeURIComponent(page.next_cursor)}`
  } while (cursor !== '')
  assert.deepEqual(
    positions,
    positions.map((_, index) => index + 1),
  )
  const seen = (await steel.get(`/v1/audit/threads/${threadId}`)).body as unknown as PackageEvidence
  assert.deepEqual(seen.hidden_entries, [])
  assert.ok(seen.entries.every(({ chain }) => chain?.package_id !== metadata.package_id))
})

test('[AUD-01] the exchange signs where each chain ends, for its parties', async () => {
  const { body } = await seats.get(`/log/heads?thread_id=${thread.threadId}&limit=2`)
  const heads = body['heads'] as PackageHead[]
  assert.deepEqual([heads.length, body['has_more']], [2, true])
  const rest = await seats.get(
    `/log/heads?thread_id=${thread.threadId}&after=${encodeURIComponent(String(body['next_cursor']))}`,
  )
  heads.push(...(rest.body['heads'] as PackageHead[]))
  const { keys } = (await seats.get('/v1/directory/agents/agent_platform/keys')).body as { keys: PublicKey[] }
  for (const head of heads) {
    const { links } = recomputed(await evidenceOf(cars, head.package_id))
    assert.deepEqual(
      [head.position, head.link, head.thread_id],
      [links.length - 1, Buffer.from(links.at(-1) ?? []).toString('hex'), thread.threadId],
    )
    const key = keys.find(({ key_id }) => key_id === head.signature.key_id)
    await verifyPackageHead(head, await importPublicJwk(key?.public_key, { use: 'signing' }))
  }
  assert.equal(new Set(heads.map(({ package_id }) => package_id)).size, 4)
  const one = await cars.get(`/log/heads?package_id=${thread.first.package_id}`)
  assert.equal((one.body['heads'] as PackageHead[])[0]?.package_id, thread.first.package_id)
  for (const query of [`package_id=${thread.first.package_id}`, `thread_id=${thread.threadId}`])
    assertProblem(await steel.get(`/log/heads?${query}`), 'resource_not_found')
  assertProblem(await seats.get('/log/heads'), 'validation_failed')
})

/** The same organization at another process. */
function through({ url }: { url: string }, organization: Organization): Organization {
  return {
    ...organization,
    get: (path, options) => organization.get(path, { ...options, at: url }),
    post: (path, body, options) => organization.post(path, body, { ...options, at: url }),
  }
}

test('[AUD-03] packages from before stay in the chain of their thread, beside packages of version 2', async () => {
  await using before = await startWorld({ profile: QUICK_LOG, evidenceVersion: 1 })
  const [acme, bolt] = await organizations(before, 'acme', 'bolt')
  const old = (await sendPackage(acme, bolt)).metadata
  await using upgraded = await startWorld({ profile: QUICK_LOG, beside: before, evidenceVersion: 2 })
  const { thread_id: threadId } = old
  const [newAcme, newBolt] = [through(upgraded, acme), through(upgraded, bolt)]
  const fresh = (await sendPackage(newAcme, newBolt, { threadId })).metadata
  await sendReceipt(newBolt, old, 'received')
  await sendReceipt(newBolt, fresh, 'received')
  await sendReceipt(newBolt, old, 'opened')
  const { entries } = await evidenceOf(newAcme, old.package_id)
  assert.ok(entries.every(({ chain, proof }) => chain === undefined && typeof proof.hash === 'string'))
  assert.equal(entries.length, 6)
  assert.deepEqual(
    entries.slice(1).map(({ proof }) => proof.previous_hash),
    entries.slice(0, -1).map(({ proof }) => proof.hash),
  )
  recomputed(await evidenceOf(newBolt, fresh.package_id))
  const own = openDatabase({ target: before.databaseUrl, maximumConnections: 1, applicationName: 'test' })
  assert.match(await checkAuditChains(own), /1 threads are complete: 11 entries/u)
  await own.end()
})

test('[AUD-03] the check of a backup follows the chains of packages, and finds a changed entry and a changed end', async () => {
  assert.match(await checkAuditChains(db), /threads are complete/u)
  const { package_id: packageId } = thread.second
  const [{ chain_link: link } = {}] = await world.sql<{ chain_link: Buffer }[]>`
    select chain_link from package where package_id = ${packageId}`
  assert.ok(link)
  await world.sql`update package set chain_link = ${Buffer.alloc(32)} where package_id = ${packageId}`
  await assert.rejects(checkAuditChains(db), /does not end where its package says/u)
  await world.sql`update package set chain_link = ${link} where package_id = ${packageId}`
  await world.sql`alter table audit_record disable trigger audit_record_is_append_only`
  await world.sql`
    update audit_record set entries = replace(entries, 'policy_violation', 'policy_violatiom')
    where package_id = ${packageId}`
  await world.sql`
    update audit_record set entries = replace(entries, 'package_accepted', 'package_acceptee')
    where package_id = ${packageId}`
  await assert.rejects(checkAuditChains(db), new RegExp(`audit chain of ${packageId} is broken`, 'u'))
})
