import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createProfile, POLICY_CHECK_IDS, type ThreadEvidence } from '@agent-exchange/protocol'
import {
  assertProblem,
  assertSuccess,
  draftPackage,
  freshId,
  organizations,
  sendPackage,
  sendReceipt,
  startWorld,
  submitPackage,
  untilBlocked,
  type Answer,
} from '@agent-exchange/testkit'
import { openDatabase } from '@agent-exchange/database'
import { lockNames } from '../../kernel/named-locks.ts'
import { removeExpired } from './retention.ts'

const world = await startWorld()
const db = openDatabase({ target: world.databaseUrl, maximumConnections: 4, applicationName: 'test' })
after(async () => {
  await db.end()
  await world[Symbol.asyncDispose]()
})
const [seats, cars] = await organizations(world, 'seats', 'cars')
const DAY = 86_400

function profileWith(days: number) {
  const result = createProfile({ 'O-18': { unused_policy_receipt_days: days } })
  assert.ok(result.ok)
  return result.profile
}

const clean = async (days = 90) =>
  (await removeExpired(db, profileWith(days), world.clock.now()))['unused_policy_receipts'] ?? 0

const pathOf = (id: string) => `/v1/policy-receipts/${id}`

/** A policy receipt for a package that is not sent. */
async function receiptOnly(checks = 'passed') {
  const draft = await draftPackage(seats, cars, {
    threadId: freshId('thread'),
    metadata: { expires_at: '2100-01-01T00:00:00Z' },
    receipt: { checks: POLICY_CHECK_IDS.map((check_id) => ({ check_id, outcome: checks })) },
  })
  const answer = await seats.post('/v1/policy-receipts', draft.receipt)
  assertSuccess(answer, 'createPolicyReceipt')
  return { draft, auditEventId: answer.body['audit_event_id'] }
}

async function unlinked(threadId: string): Promise<unknown[]> {
  const { body, status } = await seats.get(`/v1/audit/threads/${threadId}`)
  assert.equal(status, 200)
  return (body as unknown as ThreadEvidence).unlinked_entries?.map(({ event }) => event?.id) ?? []
}

test('[O-18][AUD-02] the body of a receipt that no package used goes after its time; its audit entries stay', async () => {
  const [unused, ineligible] = [await receiptOnly(), await receiptOnly('failed')]
  const { metadata: used } = await sendPackage(seats, cars)
  world.clock.advance(89 * DAY)
  assert.equal(await clean(), 0)
  world.clock.advance(2 * DAY)
  const late = await receiptOnly()
  assert.equal(await clean(), 2)
  for (const { draft, auditEventId } of [unused, ineligible]) {
    const { policy_receipt_id, thread_id } = draft.metadata
    assertProblem(await seats.get(pathOf(policy_receipt_id)), 'resource_not_found')
    assert.ok((await unlinked(thread_id)).includes(auditEventId))
    const [row] =
      await world.sql`select body from policy_receipt where policy_receipt_id = ${policy_receipt_id}`
    assert.equal(row?.['body'], null)
    // Its id is not free again, and no package may refer to it.
    assertProblem(await seats.post('/v1/policy-receipts', draft.receipt), 'identifier_conflict')
    assertProblem(await submitPackage(seats, draft), 'policy_receipt_missing')
  }
  assert.equal((await seats.get(pathOf(used.policy_receipt_id))).status, 200)
  assert.equal((await seats.get(`/v1/audit/packages/${used.package_id}`)).status, 200)
  assert.equal((await seats.get(pathOf(late.draft.metadata.policy_receipt_id))).status, 200)
  assert.equal(await clean(), 0)
})

test('[O-18] a receipt is looked at once; a deployment may keep all, and shorten the time later', async () => {
  const { draft } = await receiptOnly()
  const path = pathOf(draft.metadata.policy_receipt_id)
  world.clock.advance(200 * DAY)
  assert.equal(await clean(0), 0)
  assert.equal((await seats.get(path)).status, 200)
  assert.equal(await clean(300), 0)
  assert.equal(await clean(30), 2)
  assertProblem(await seats.get(path), 'resource_not_found')
})

test('[O-18] however many are in use, one run goes past them', async () => {
  const { metadata } = await sendPackage(seats, cars)
  await world.sql`
    insert into package select (json_populate_record(package, json_build_object('package_id', 'pkg_filler_' || number,
      'thread_position', number, 'policy_receipt_id', 'receipt_filler_' || number))).*
    from package, generate_series(2, 2501) as number where package_id = ${metadata.package_id}`
  await world.sql`
    insert into policy_receipt select (json_populate_record(policy_receipt, json_build_object(
      'policy_receipt_id', 'receipt_filler_' || number, 'package_id', 'pkg_filler_' || number,
      'accepted_at', accepted_at + number * interval '1 millisecond'))).*
    from policy_receipt, generate_series(2, 2501) as number where policy_receipt_id = ${metadata.policy_receipt_id}`
  world.clock.advance(1)
  await receiptOnly()
  world.clock.advance(100 * DAY)
  assert.equal(await clean(), 1)
})

test('[POL-04][O-18] a package that is being sent keeps its receipt: retention waits for its thread', async () => {
  const { draft } = await receiptOnly()
  world.clock.advance(100 * DAY)
  const { thread_id: threadId, policy_receipt_id } = draft.metadata
  const waiting: { sent?: Promise<Answer>; cleaned?: Promise<number> } = {}
  await db.begin(async (tx) => {
    await lockNames(tx, 'thread', [threadId])
    waiting.sent = submitPackage(seats, draft)
    await untilBlocked(world, 1)
    waiting.cleaned = clean()
    await untilBlocked(world, 2)
  })
  const [sent, cleaned] = await Promise.all([waiting.sent, waiting.cleaned])
  assert.equal(sent?.status, 202, sent?.text)
  assert.equal(cleaned, 0)
  assert.equal((await cars.get(pathOf(policy_receipt_id))).status, 200)
})

test('[AUD-03][O-22] outside of retention no body can be taken, and retention takes nothing else; signatures are kept', async () => {
  const { metadata } = await sendPackage(seats, cars)
  await sendReceipt(cars, metadata, 'received')
  await receiptOnly()
  await assert.rejects(world.sql`update policy_receipt set body = null`, /append-only/)
  await world.sql.begin(async (tx) => {
    await tx`select set_config('aex.retention', 'on', true)`
    for (const change of [
      "update policy_receipt set body = ''",
      "update policy_receipt set body = null, audit_entries = ''",
      "update policy_receipt set audit_event_id = 'audit_other'",
      'delete from policy_receipt',
    ]) {
      const tried = tx.savepoint((inner) => inner.unsafe(change))
      await assert.rejects(tried, /append-only/, change)
    }
  })
  world.clock.advance(1_000 * DAY)
  const [before] = await world.sql`select count(*)::int from statement_signature`
  await clean()
  const [kept] = await world.sql`select count(*)::int from statement_signature`
  assert.deepEqual(kept, before)
})
