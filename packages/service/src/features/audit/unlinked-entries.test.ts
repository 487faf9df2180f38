import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  POLICY_CHECK_IDS,
  validateObject,
  type PolicyReceipt,
  type ThreadEvidence,
} from '@agent-exchange/protocol'
import {
  assertProblem,
  assertSuccess,
  draftPackage,
  freshId,
  organizations,
  sendPackage,
  startWorld,
  submitPackage,
  type Organization,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const [seats, cars] = await organizations(world, 'seats', 'cars')

const refused: Partial<PolicyReceipt> = {
  checks: POLICY_CHECK_IDS.map((check_id) => ({ check_id, outcome: 'failed' })),
}

async function evidence(by: Organization, threadId: string, query = ''): Promise<ThreadEvidence> {
  const answer = await by.get(`/v1/audit/threads/${threadId}${query}`)
  assertSuccess(answer, 'getThreadAuditEvidence')
  return answer.body as unknown as ThreadEvidence
}

const unlinkedIds = ({ unlinked_entries: entries = [] }: ThreadEvidence) =>
  entries.map(({ event }) => event?.id)

/** Submits a receipt without a package. */
async function receiptOnly(threadId: string, receipt?: Partial<PolicyReceipt>) {
  const draft = await draftPackage(seats, cars, { threadId, ...(receipt && { receipt }) })
  const answer = await seats.post('/v1/policy-receipts', draft.receipt)
  assertSuccess(answer, 'createPolicyReceipt')
  return {
    draft,
    auditEventId: String(answer.body['audit_event_id']),
    acceptedAt: answer.body['accepted_at'],
  }
}

test('[AUD-02][POL-03] the audit event of an ineligible receipt is in the sender’s evidence, although no thread exists', async () => {
  const threadId = freshId('thread')
  const { draft, auditEventId, acceptedAt } = await receiptOnly(threadId, refused)
  const { entries, unlinked_entries: unlinked = [], has_more } = await evidence(seats, threadId)
  assert.deepEqual([entries, has_more], [[], false])
  const [evaluated, approved] = unlinked
  assert.equal(unlinked.length, 2)
  assert.equal(evaluated?.event?.id, auditEventId)
  assert.equal(evaluated?.event?.decision, 'ineligible')
  assert.equal(evaluated?.event?.event_type, 'policy_evaluated')
  assert.equal(evaluated?.event?.target.object_id, draft.metadata.package_id)
  assert.equal(approved?.event?.event_type, 'human_approved')
  for (const { event, proof } of unlinked) {
    assert.deepEqual(validateObject(event).failures, [])
    assert.equal(proof.recorded_at, acceptedAt)
    assert.deepEqual(Reflect.get(proof, 'signature'), draft.receipt.signature)
    for (const name of ['previous_hash', 'hash', 'position']) assert.ok(!(name in proof))
  }
  // For the recipient the thread does not exist.
  assertProblem(await cars.get(`/v1/audit/threads/${threadId}`), 'resource_not_found', {})
  assertProblem(await seats.get(`/v1/audit/threads/${freshId('thread')}`), 'resource_not_found', {})
})

test('[AUD-02] a receipt is unlinked until its package arrives, and then only in the chain', async () => {
  const { metadata: first } = await sendPackage(seats, cars)
  const { thread_id: threadId } = first
  assert.deepEqual((await evidence(seats, threadId)).unlinked_entries, [])
  const { draft, auditEventId } = await receiptOnly(threadId)
  const waiting = await evidence(seats, threadId)
  assert.ok(unlinkedIds(waiting).includes(auditEventId))
  assert.equal(waiting.entries.length, 4)
  const theirs = await evidence(cars, threadId)
  assert.deepEqual([theirs.unlinked_entries, theirs.entries.length], [[], 4])
  assert.equal((await submitPackage(seats, draft)).status, 202)
  const linked = await evidence(seats, threadId)
  assert.deepEqual(linked.unlinked_entries, [])
  assert.ok(linked.entries.some(({ event }) => event?.id === auditEventId))
})

test('[AUD-02][O-31] a receipt for a thread of other organizations reveals nothing about that thread', async () => {
  const { thread_id: threadId } = (await sendPackage(cars, cars)).metadata
  const { auditEventId } = await receiptOnly(threadId, refused)
  const seen = await evidence(seats, threadId)
  assert.deepEqual([seen.entries, seen.has_more, seen.next_cursor], [[], false, null])
  assert.equal(unlinkedIds(seen)[0], auditEventId)
  assert.deepEqual((await evidence(cars, threadId)).unlinked_entries, [])
})

test('[AUD-01][API-06][O-07] unlinked entries are paged with the chain, in order of time, each once', async () => {
  const { thread_id: threadId } = (await sendPackage(seats, cars)).metadata
  const expected: string[] = []
  for (let index = 0; index < 5; index++) expected.push((await receiptOnly(threadId, refused)).auditEventId)
  // Several with the same time.
  await Promise.all(Array.from({ length: 4 }, () => receiptOnly(threadId, refused)))
  const whole = await evidence(seats, threadId)
  assert.equal(whole.unlinked_entries?.length, 18)
  for (const limit of [1, 2, 3, 5, 17]) {
    const [found, chain]: [ThreadEvidence['unlinked_entries'], number[]] = [[], []]
    let cursor = ''
    for (let pages = 0; pages < 30; pages++) {
      const page = await evidence(seats, threadId, `?limit=${limit}${cursor}`)
      assert.ok((page.unlinked_entries?.length ?? 0) <= limit)
      found.push(...(page.unlinked_entries ?? []))
      chain.push(...page.entries.map(({ position }) => position))
      if (page.next_cursor === null) break
      cursor = `&after=${page.next_cursor}`
    }
    assert.deepEqual(found, whole.unlinked_entries)
    assert.deepEqual(chain, [1, 2, 3, 4])
    const times = found.map(({ proof }) => proof.recorded_at)
    assert.deepEqual(times, times.toSorted())
  }
  const ids = unlinkedIds(whole)
  assert.deepEqual(
    ids.filter((id) => expected.includes(id ?? '')),
    expected,
  )
})

test('[AUD-02] in a thread with more receipts than one query scans, the next pages find the unused one', async () => {
  const { metadata } = await sendPackage(seats, cars)
  const { thread_id: threadId, policy_receipt_id: used } = metadata
  // More than a thousand used receipts, each with its package.
  await world.sql`
    insert into package select (json_populate_record(package, json_build_object('package_id', 'pkg_filler_' || number,
      'thread_position', number, 'policy_receipt_id', 'receipt_filler_' || number))).*
    from package, generate_series(2, 1101) as number where package_id = ${metadata.package_id}`
  await world.sql`
    insert into policy_receipt select (json_populate_record(policy_receipt, json_build_object(
      'policy_receipt_id', 'receipt_filler_' || number, 'package_id', 'pkg_filler_' || number,
      'audit_event_id', 'audit_filler_' || number))).*
    from policy_receipt, generate_series(2, 1101) as number where policy_receipt_id = ${used}`
  await world.sql`update thread set package_count = 1101 where thread_id = ${threadId}`
  world.clock.advance(1)
  const { auditEventId } = await receiptOnly(threadId, refused)
  const first = await evidence(seats, threadId)
  assert.deepEqual([first.unlinked_entries, first.has_more], [[], true])
  const second = await evidence(seats, threadId, `?after=${first.next_cursor}`)
  assert.equal(unlinkedIds(second)[0], auditEventId)
  assert.equal(second.has_more, false)
})
