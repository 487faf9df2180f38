import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  importPublicJwk,
  verifyDetached,
  verifyPackageStatement,
  verifyPolicyReceipt,
} from '@agent-exchange/crypto'
import { bodyHash, chainStart, entryBody, nextLink } from '@agent-exchange/log'
import {
  validateObject,
  type EvidenceEntry,
  type PackageEvidence,
  type PublicKey,
} from '@agent-exchange/protocol'
import {
  addKey,
  assertProblem,
  assertSuccess,
  draftPackage,
  freshId,
  organizations,
  revokeKey,
  sendPackage,
  sendReceipt,
  sendRevocation,
  startWorld,
  submit,
  type Organization,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const [seats, cars] = await organizations(world, 'seats', 'cars')

type Proof = EvidenceEntry['proof'] & Record<string, unknown>

async function threadEntries(by: Organization, threadId: string, query = '') {
  const answer = await by.get(`/v1/audit/threads/${threadId}${query}`)
  assertSuccess(answer, 'getThreadAuditEvidence')
  return answer.body as unknown as { entries: EvidenceEntry[]; next_cursor: string | null; has_more: boolean }
}

async function packageEvidence(by: Organization, packageId: string): Promise<PackageEvidence> {
  const answer = await by.get(`/v1/audit/packages/${packageId}`)
  assertSuccess(answer, 'getPackageAuditEvidence')
  return answer.body as unknown as PackageEvidence
}

/** A thread with every kind of event. */
async function fullThread() {
  const first = (await sendPackage(seats, cars)).metadata
  const { thread_id: threadId } = first
  await cars.get(`/content/packages/${first.package_id}`)
  await sendReceipt(cars, first, 'failed')
  await sendReceipt(cars, first, 'received')
  await sendReceipt(cars, first, 'opened', { form: 'plain' })
  const answer = (await sendPackage(cars, seats, { threadId, respondsTo: first.package_id })).metadata
  const second = (await sendPackage(seats, cars, { threadId })).metadata
  await sendRevocation(seats, second)
  return { first, answer, second, threadId }
}

const thread = await fullThread()

test('[AUD-01][AUD-02][O-26] evidence lists all events in order, as valid audit events with their proof', async () => {
  const { entries } = await threadEntries(seats, thread.threadId)
  const accepted = ['policy_evaluated', 'human_approved', 'package_created', 'package_sent']
  const kinds = ['policy_receipt_accepted', 'approval_recorded', 'package_accepted', 'package_accepted']
  assert.deepEqual(
    entries.map(({ event, proof }) => [event?.event_type, proof.kind]),
    [
      ...accepted.map((type, index) => [type, kinds[index]]),
      [undefined, 'content_fetched'],
      [undefined, 'receipt_failed'],
      ['package_received', 'receipt_received'],
      [undefined, 'receipt_opened'],
      ...accepted.map((type, index) => [type, kinds[index]]),
      ['response_created', 'response_accepted'],
      ...accepted.map((type, index) => [type, kinds[index]]),
      ['package_revoked', 'package_revoked'],
    ],
  )
  for (const { event } of entries) {
    if (!event) continue
    assert.deepEqual(validateObject(event).failures, [])
    assert.equal(event.thread_id, thread.threadId)
  }
  const responded = entries.find(({ event }) => event?.event_type === 'response_created')?.event
  assert.equal(responded?.target.object_id, thread.first.package_id)
  assert.equal(responded?.actor.organization_id, cars.organizationId)
  assert.equal(responded?.actor.agent_id, cars.agentId)
})

test('[AUD-01][AUD-03] either party can recompute the hash chain from its evidence', async () => {
  const [mine, theirs] = [
    await threadEntries(seats, thread.threadId),
    await threadEntries(cars, thread.threadId),
  ]
  assert.deepEqual(mine.entries, theirs.entries)
  const links = new Map<string, Uint8Array>()
  for (const [index, entry] of mine.entries.entries()) {
    const { event, proof, chain } = entry
    assert.ok(chain)
    assert.equal(entry.position, index + 1)
    const { package_id: id, position, visibility } = chain
    const previous = links.get(id) ?? (await startOf(id))
    assert.equal(chain.previous_hash, Buffer.from(previous).toString('hex'))
    const hash = bodyHash(entryBody({ event, proof }))
    const link = nextLink(previous, { position, kind: proof.kind, visibility, bodyHash: hash })
    assert.equal(chain.hash, Buffer.from(link).toString('hex'))
    links.set(id, link)
  }
  assert.equal(links.size, 3)
})

/** Link 0 of the chain of a package, from what its parties know of it. */
async function startOf(packageId: string): Promise<Uint8Array> {
  const { package: shown, policy_receipt: policy } = await packageEvidence(cars, packageId)
  const { thread_id: threadId, content_digest: contentDigest } = shown.metadata
  const receiptSignature = policy.receipt.signature.signature
  return chainStart({ packageId, threadId, contentDigest, receiptSignature })
}

test('[AUD-01] the entry text of a policy receipt is stored once, with the receipt', async () => {
  const [record] = await world.sql`
    select entries, policy_receipt_id from audit_record where package_id = ${thread.first.package_id}
    order by last_position limit 1`
  assert.equal(record?.['policy_receipt_id'], thread.first.policy_receipt_id)
  const stored = JSON.parse(String(record?.['entries'])) as object[]
  assert.deepEqual(
    stored.map((entry) => Object.keys(entry).join()),
    ['previous_hash,recorded_at,hash', 'recorded_at,hash', 'entry,hash', 'entry,hash'],
  )
  const [policy, approval] = (await threadEntries(cars, thread.threadId)).entries
  assert.equal(policy?.event?.event_type, 'policy_evaluated')
  assert.equal(approval?.chain?.previous_hash, policy?.chain?.hash)
})

test('[AUD-01][ID-05] the platform’s signed acceptance verifies with its key in the directory', async () => {
  const { first } = thread
  const { entries } = await packageEvidence(cars, first.package_id)
  const proof = entries.find(({ event }) => event?.event_type === 'package_created')?.proof as Proof
  const acceptance = proof['acceptance'] as Record<string, unknown> & { signature: { key_id: string } }
  const directory = await cars.get('/v1/directory/agents/agent_platform/keys')
  assertSuccess(directory, 'getAgentKeys')
  const key = (directory.body['keys'] as PublicKey[]).find(
    ({ key_id }) => key_id === acceptance.signature.key_id,
  )
  const publicKey = await importPublicJwk(key?.public_key)
  await verifyDetached(acceptance, { member: 'signature', publicKey })
  const { package_id, content_digest, signing_key_id, accepted_at, thread_id } = acceptance
  assert.deepEqual(
    { package_id, content_digest, signing_key_id, thread_id },
    {
      package_id: first.package_id,
      content_digest: first.content_digest,
      signing_key_id: seats.signing.keyId,
      thread_id: first.thread_id,
    },
  )
  const read = await cars.get(`/v1/packages/${first.package_id}`)
  assert.equal(accepted_at, read.body['created_at'])
  const altered = { ...acceptance, accepted_at: '2026-01-01T00:00:00.000Z' }
  await assert.rejects(verifyDetached(altered, { member: 'signature', publicKey }))
})

test('[AUD-01] the evidence of a package contains its entries, policy receipt and signed receipts, and nothing of other packages', async () => {
  const { first, second, answer } = thread
  for (const by of [seats, cars]) {
    const evidence = await packageEvidence(by, first.package_id)
    const text = JSON.stringify(evidence)
    assert.ok(!text.includes(second.package_id) && !text.includes(second.policy_receipt_id))
    // The response is named, but its entries belong to its own evidence.
    assert.ok(text.includes(answer.package_id) && !text.includes(answer.policy_receipt_id))
    const events = evidence.entries.flatMap(({ event }) => (event ? [event] : []))
    assert.ok(events.some(({ id }) => id === evidence.policy_receipt.audit_event_id))
    await verifyPolicyReceipt(evidence.policy_receipt.receipt, seats.signing.pair.publicKey)
    const forms = ['bound', 'bound', 'plain']
    for (const [index, shown] of evidence.receipts.entries()) {
      const {
        package_id: packageId,
        accepted_at: _at,
        signature_form,
        ...receipt
      } = shown as typeof shown & {
        signature_form: string
      }
      const check = { packageId, publicKey: cars.signing.pair.publicKey }
      assert.equal(await verifyPackageStatement(receipt, check), forms[index])
      assert.equal(signature_form, forms[index])
    }
    assert.equal(evidence.receipts.length, 3)
    assert.equal(evidence.package.state, 'responded')
  }
})

test('[AUD-01][PKG-14] evidence is metadata only: no ciphertext, idempotency key or reason of a key revocation', async () => {
  const draft = await draftPackage(seats, cars)
  await revokeKey(seats, (await addKey(seats, 'signing')).keyId, world.clock.now())
  await submit(seats, draft, { idempotencyKey: 'SECRET-IDEMPOTENCY', correlationId: 'corr_visible' })
  const { package_id, thread_id } = draft.metadata
  const { payload } = draft.body as { payload: string }
  const { jwe } = JSON.parse(Buffer.from(payload, 'base64url').toString()) as { jwe: Record<string, string> }
  for (const path of [`packages/${package_id}`, `threads/${thread_id}`]) {
    const { text } = await cars.get(`/v1/audit/${path}`)
    for (const part of [jwe['ciphertext'], jwe['tag'], jwe['iv'], payload, 'SECRET-IDEMPOTENCY', 'case_1']) {
      assert.ok(part && !text.includes(part))
    }
    assert.ok(text.includes('corr_visible'))
  }
})

test('[API-06][O-07] evidence is paged by cursor, and a cursor is valid only for its listing', async () => {
  const { threadId, first } = thread
  const whole = (await threadEntries(seats, threadId)).entries
  const found: EvidenceEntry[] = []
  let cursor = ''
  for (let pages = 0; pages < 10; pages++) {
    const page = await threadEntries(seats, threadId, `?limit=3${cursor && `&after=${cursor}`}`)
    found.push(...page.entries)
    assert.equal(page.has_more, page.next_cursor !== null)
    if (page.next_cursor === null) break
    cursor = page.next_cursor
  }
  assert.deepEqual(found, whole)
  for (const [by, path] of [
    [cars, `threads/${threadId}?after=${cursor}`],
    [seats, `packages/${first.package_id}?after=${cursor}`],
    [seats, `threads/${threadId}?after=${cursor}AA`],
    [seats, `threads/${threadId}?after=MQ`],
  ] as const) {
    assertProblem(await by.get(`/v1/audit/${path}`), 'cursor_invalid', {})
  }
  assertProblem(await seats.get(`/v1/audit/threads/${threadId}?limit=1001`), 'validation_failed')
})

test('[AUD-01] the signed receipts verify from the thread’s entries alone', async () => {
  const { entries } = await threadEntries(seats, thread.threadId)
  const states = ['failed', 'received', 'opened']
  for (const state of states) {
    const proof = entries.find((entry) => entry.proof.kind === `receipt_${state}`)?.proof as Proof
    const { receipt_id, occurred_at, actor_agent_id, package_digest, signature } = proof
    const statement = { receipt_id, state, occurred_at, actor_agent_id, package_digest, signature }
    const check = { packageId: thread.first.package_id, publicKey: cars.signing.pair.publicKey }
    await verifyPackageStatement(statement, check)
  }
})

test('[AUD-01] the entry of a response carries the platform’s signed acceptance of it', async () => {
  const { entries } = await packageEvidence(seats, thread.first.package_id)
  const proof = entries.find((entry) => entry.proof.kind === 'response_accepted')?.proof as Proof
  const acceptance = proof['acceptance'] as Record<string, unknown>
  assert.equal(acceptance['package_id'], thread.answer.package_id)
  assert.equal(acceptance['content_digest'], thread.answer.content_digest)
  const directory = await cars.get('/v1/directory/agents/agent_platform/keys')
  const [key] = directory.body['keys'] as PublicKey[]
  const publicKey = await importPublicJwk(key?.public_key)
  await verifyDetached(acceptance, { member: 'signature', publicKey })
})

test('[AUD-02][OBJ-10][O-26] only a package with the id prefix of one is called a reasoning_package', async () => {
  const { first, answer, threadId } = thread
  // A response may have any id and does not necessarily contain a reasoning_package.
  const named = (
    await sendPackage(cars, seats, {
      threadId,
      respondsTo: first.package_id,
      metadata: { package_id: freshId('pkg') },
    })
  ).metadata
  const { entries } = await threadEntries(seats, threadId)
  const typesOf = (id: string, events: readonly string[]) =>
    new Set(
      entries.flatMap(({ event }) =>
        event?.target.object_id === id && events.includes(event.event_type) ? [event.target.object_type] : [],
      ),
    )
  const own = ['package_created', 'package_sent', 'package_received', 'response_created']
  const policy = ['policy_evaluated', 'human_approved']
  assert.deepEqual(typesOf(first.package_id, [...own, ...policy]), new Set(['reasoning_package']))
  assert.deepEqual(typesOf(answer.package_id, [...own, ...policy]), new Set(['package']))
  assert.deepEqual(typesOf(named.package_id, own), new Set(['package']))
  for (const { event } of entries) if (event) assert.deepEqual(validateObject(event).failures, [])
})

test('[AUD-01] evidence states the arrival time of a signed statement and contains no download URL', async () => {
  const evidence = await packageEvidence(cars, thread.first.package_id)
  assert.equal(evidence.package.ciphertext_download_url, undefined)
  const signed = evidence.entries.filter(({ proof }) => /^receipt_|^policy_receipt/.test(proof.kind))
  assert.equal(signed.length, 4)
  for (const { proof } of signed) assert.ok(String(Reflect.get(proof, 'accepted_at')) <= proof.recorded_at)
  const { policy_receipt: policyReceipt } = evidence
  assert.equal(Reflect.get(signed[0]?.proof ?? {}, 'accepted_at'), policyReceipt.accepted_at)
})

test('[AUD-03] the tables behind evidence cannot be changed, deleted from or truncated', async () => {
  for (const table of [
    'audit_record',
    'agent_key_event',
    'package_receipt',
    'package_revocation',
    'policy_receipt',
    'content_fetch',
  ]) {
    const name = world.sql(table)
    assert.ok((await world.sql`select from ${name} limit 1`).length > 0, table)
    const [column] = await world.sql`select column_name from information_schema.columns
      where table_name = ${table} and data_type = 'text' limit 1`
    const text = world.sql(String(column?.['column_name']))
    await assert.rejects(world.sql`update ${name} set ${text} = ${text}`, /append-only/, table)
    await assert.rejects(world.sql`delete from ${name}`, /append-only/, table)
    await assert.rejects(world.sql`truncate ${name} cascade`, /append-only/, table)
  }
  for (const table of ['package_content', 'notification']) {
    const name = world.sql(table)
    await assert.rejects(world.sql`update ${name} set package_id = package_id`, /append-only/)
    await assert.rejects(world.sql`delete from ${name}`, /append-only outside retention/)
    await assert.rejects(world.sql`truncate ${name} cascade`, /append-only/)
  }
})
