import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Checks } from '../verdict/check.ts'
import { isoTime } from './capsule-result.ts'
import type { OpenedLog } from './open-log.ts'
import { verifyRecordedTimes } from './verify-recorded-times.ts'

const [BEFORE, AFTER, DAY] = [1_000_000, 1_000_100, 86_400]
/** Witnesses saw the log without the leaf at the first time, and with it at the second. */
const log = {
  boundsOf: () => ({ after: isoTime(BEFORE), before: isoTime(AFTER) }),
} as unknown as OpenedLog

function resultsOf(times: readonly number[], mayPrecedeLog = false) {
  const checks = new Checks()
  const recorded = times.map((time, at) => ({
    about: { package_id: 'pkg_1', position: at + 1 },
    recordedAt: isoTime(time),
    index: 0,
  }))
  verifyRecordedTimes(recorded, { log, mayPrecedeLog }, checks)
  return checks.all.map(({ result, position, values }) => `${position} ${values?.fault} ${result}`)
}

test('[AUD-03] every entry of a record is bounded on both sides: ten minutes lower the level, a day is a contradiction', () => {
  assert.deepEqual(resultsOf([BEFORE - 600, BEFORE, AFTER, AFTER + 600]), [])
  assert.deepEqual(resultsOf([BEFORE, BEFORE - 601, AFTER + 601, BEFORE - DAY - 1, AFTER + DAY + 1]), [
    '2 too_early unproved',
    '3 too_late unproved',
    '4 too_early fails',
    '5 too_late fails',
  ])
  assert.deepEqual(resultsOf([BEFORE - 400 * DAY], true), ['1 too_early unproved'])
  const checks = new Checks()
  verifyRecordedTimes([{ about: { position: 1 }, recordedAt: 'then', index: 0 }], { log }, checks)
  assert.equal(checks.all[0]?.result, 'fails')
})
