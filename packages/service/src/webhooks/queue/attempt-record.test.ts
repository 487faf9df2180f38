import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { openTestDatabase } from '@agent-exchange/testkit'
import { recordAttempts } from './attempt-record.ts'
import type { FinishedAttempt } from './finished-attempt.ts'
import { claimDeliveries } from './claim-deliveries.ts'
import type { Verdict } from '../worker/classify-attempt.ts'

const NOW = '2026-03-02T08:00:00.000Z'
const database = await openTestDatabase(2)
const { db } = database
after(() => database[Symbol.asyncDispose]())
await db`insert into organization values ('org_a', 'A', null, 'active', ${NOW})`
await db`insert into platform_key values ('key_1', 'webhook', '{}', '\\x00', ${NOW}, ${NOW}, 'active', ${NOW})`
await db`
  insert into webhook_endpoint
    (webhook_endpoint_id, organization_id, url, event_types, signing_key_id, status, created_at, updated_at, answered_at)
  values ('whe_1', 'org_a', 'https://agent.example/', '{}', 'key_1', 'active', ${NOW}, ${NOW}, ${NOW})`
await db`
  insert into delivery
    (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id, state,
      next_attempt_at, created_at)
  values ('dlv_1', 'whe_1', 'org_a', 'pkg_1', 'ntf_1', 'evt_1', 'pending', ${NOW}, ${NOW})`

const finished = (claimId: number, attempt: number, verdict: Verdict): FinishedAttempt => ({
  deliveryId: 'dlv_1',
  claimId,
  endpointId: 'whe_1',
  organizationId: 'org_a',
  attempt,
  hasAnswered: true,
  wasFailing: false,
  startedAt: NOW,
  finishedAt: NOW,
  verdict,
  details: { status: 500 },
})
const claim = (worker: string) =>
  claimDeliveries(db, [{ endpointId: 'whe_1', room: 1 }], {
    worker,
    now: NOW,
    finished: [],
    unanswered: DEFAULT_PROFILE['O-45'],
  })

test('[EVT-07] a result is recorded once, and only for the claim it was sent under', async () => {
  const [first] = await claim('wrk_1')
  assert.ok(first)
  const retry: Verdict = { outcome: 'retry', at: NOW, reason: 'status 500' }
  const delivered: Verdict = { outcome: 'delivered' }
  const record = async (each: FinishedAttempt) => (await recordAttempts(db, [each])).size
  assert.equal(await record(finished(first.claim_id + 1, 1, delivered)), 0)
  assert.equal(await record(finished(first.claim_id, 1, retry)), 1)
  assert.equal(await record(finished(first.claim_id, 1, delivered)), 0)
  const [second] = await claim('wrk_2')
  assert.equal(second?.attempt, 2)
  assert.equal(await record(finished(first.claim_id, 1, delivered)), 0, 'too late')
  assert.equal(await record(finished(second.claim_id, 2, { outcome: 'failed', reason: 'status 404' })), 1)
  const rows = await db`select attempt, outcome from delivery_attempt order by attempt`
  assert.deepEqual(
    rows.map(({ attempt, outcome }) => [attempt, outcome] as unknown),
    [
      [1, 'retry'],
      [2, 'failed'],
    ],
  )
  const [delivery] = await db`select state, finished_at, claim_id from delivery`
  assert.deepEqual({ ...delivery }, { state: 'failed', finished_at: NOW, claim_id: null })
  assert.equal((await claim('wrk_3')).length, 0)
})

test('[O-44] a result that may be lost is committed without a flush, and removes claims that are finished', async () => {
  await db`update delivery set state = 'pending', attempt = 0, finished_at = null`
  await db`delete from delivery_attempt`
  const [claimed] = await claim('wrk_4')
  assert.ok(claimed)
  const commit = async (isFlushed: boolean) =>
    db.begin(async (tx) => {
      await tx`set local synchronous_commit = on`
      const finishedClaims = { worker: 'wrk_4', claimIds: [claimed.claim_id] }
      await recordAttempts(tx, [finished(claimed.claim_id, 1, { outcome: 'delivered' })], {
        isFlushed,
        finishedClaims,
      })
      const [row] = await tx<{ mode: string; claims: number }[]>`
        select current_setting('synchronous_commit') as mode, (
          select count(*) from delivery_claim where worker = 'wrk_4') as claims`
      await tx`update delivery set claim_id = ${claimed.claim_id}`
      await tx`delete from delivery_attempt`
      return row && { ...row }
    })
  assert.deepEqual(await commit(true), { mode: 'on', claims: 0 })
  assert.deepEqual(await commit(false), { mode: 'off', claims: 0 })
})

test('attempts are deleted with their delivery', async () => {
  await db`delete from delivery`
  assert.equal((await db`select from delivery_attempt`).length, 0)
})
