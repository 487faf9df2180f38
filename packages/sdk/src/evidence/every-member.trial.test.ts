import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startWorld } from '@agent-exchange/testkit'
import type { EvidenceBundle } from '@agent-exchange/log'
import { verifyEvidence } from '@agent-exchange/log'
import { wholeThread } from './evidence.fixture.ts'
import { assertEveryEntryCounts, assertEveryMemberCounts } from './every-member.fixture.ts'
import { readEvidence } from './read-evidence.ts'

const world = await startWorld({ evidenceVersion: 1 })
after(() => world[Symbol.asyncDispose]())
const thread = await wholeThread(world)
const evidence = await readEvidence(thread.bolt, { threadId: thread.threadId })

/** What no test exchange does by itself: attempts to deliver, and entries outside of the chain. */
const withMore: EvidenceBundle = {
  ...evidence,
  packages: evidence.packages.map((record, index) =>
    index > 0
      ? record
      : {
          ...record,
          delivery_attempts: [
            { delivery_id: 'delivery_1', attempt: 1, attempted_at: world.clock.now(), outcome: 'delivered' },
          ],
        },
  ),
  unlinked_entries: evidence.entries
    .slice(0, 1)
    .map(({ event, proof }) => ({ ...(event && { event }), proof })),
}

test('[AUD-01][AUD-03] any member that is changed, deleted or added changes the report', async (t) => {
  const count = await assertEveryMemberCounts(withMore, (bundle) => verifyEvidence(bundle))
  t.diagnostic(`${count} edits, each of them found`)
  assert.ok(count > 1_000)
})

test('[AUD-01][AUD-03] an entry that the exchange changes, hashing the chain again, changes the report', async (t) => {
  const count = await assertEveryEntryCounts(evidence, (bundle) => verifyEvidence(bundle))
  t.diagnostic(`${count} edits, each of them found`)
  assert.ok(count > 300)
})

test('[AUD-01] with the content, any change of the metadata is a contradiction', async () => {
  const { contents } = thread
  const report = await verifyEvidence(evidence, { contents })
  assert.equal(report.verdict, 'holds')
  assert.ok(!report.exchangeClaims.some(({ code }) => code === 'metadata'))
  const verify = async (bundle: EvidenceBundle) => {
    const { verdict } = await verifyEvidence(bundle, { contents })
    return { ...report, verdict }
  }
  await assertEveryMemberCounts(
    evidence,
    verify,
    ([list, , member]) => list === 'packages' && member === 'metadata',
  )
})
