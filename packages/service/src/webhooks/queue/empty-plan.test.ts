import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { openTestDatabase } from '@agent-exchange/testkit'
import type { Queries, Transaction } from '@agent-exchange/database'
import { recordAttempts } from './attempt-record.ts'
import { takeClaims } from './claim-store.ts'
import { beginClaim } from './claim-store.ts'
import { claimDeliveries } from './claim-deliveries.ts'
import { releaseDeliveries } from './delivery-store.ts'
import { sweepLanes } from './due-lanes.ts'
import { planOf } from './statement-plan.fixture.ts'

const NOW = '2026-03-02T08:00:00.000Z'

const database = await openTestDatabase(2)
const { db } = database
after(() => database[Symbol.asyncDispose]())

const attempted = {
  deliveryId: 'dlv_1',
  endpointId: 'whe_1',
  organizationId: 'org_a',
  claimId: 1,
  attempt: 1,
  hasAnswered: true,
  wasFailing: false,
  startedAt: NOW,
  finishedAt: NOW,
  verdict: { outcome: 'delivered' },
  details: {},
} as const

// A plan cached on an empty table is kept while the table grows, so it must suit a full table from the start.
const STATEMENTS: Record<string, (queries: Queries) => Promise<unknown>> = {
  'a claim': (queries) =>
    claimDeliveries(queries, [{ endpointId: 'whe_1', room: 1 }], {
      worker: 'wrk_1',
      now: NOW,
      finished: [1],
      unanswered: DEFAULT_PROFILE['O-45'],
    }),
  'the start of a claim': (queries) => beginClaim(queries, { worker: 'wrk_1', claimId: 1, now: NOW }),
  'recording results': (queries) => recordAttempts(queries, [attempted]),
  'releasing deliveries': (queries) =>
    releaseDeliveries(queries, [{ deliveryId: 'dlv_1', claimId: 1, nextAttemptAt: NOW }]),
  'reclaiming deliveries': (queries) => takeClaims(queries as Transaction, 'wrk_1', { except: [2] }),
  'a sweep': (queries) => sweepLanes(queries, ''),
}

for (const [name, run] of Object.entries(STATEMENTS)) {
  test(`${name} finds each row by its key, even when planned on an empty database`, async () => {
    const plan = await planOf(db, run)
    assert.match(plan, /Index Scan/)
    assert.doesNotMatch(plan, /Seq Scan|Join Filter/, plan)
    // An index scan without a condition would read the whole index.
    const conditions = plan
      .split('\n')
      .flatMap((line, i, lines) => (/Index Scan/.test(line) ? [lines[i + 1] ?? ''] : []))
    for (const condition of conditions) assert.match(condition, /Index Cond/, plan)
  })
}
