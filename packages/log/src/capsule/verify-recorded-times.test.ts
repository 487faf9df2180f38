import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Checks, type Check } from '../verdict/check.ts'
import { isoTime } from './capsule-result.ts'
import type { OpenedLog } from './open-log.ts'
import { verifyRecordedTimes } from './verify-recorded-times.ts'

const [BEFORE, AFTER, DAY] = [1_000_000, 1_000_100, 86_400]
/** Witnesses saw the log without the leaf at the first time, and with it at the second. */
const log = {
  boundsOf: () => ({ after: isoTime(BEFORE), before: isoTime(AFTER) }),
} as unknown as OpenedLog

const isTime = ({ code }: Check) => code === 'recorded_time'

function resultsOf(times: readonly number[], mayPrecedeLog = false) {
  const checks = new Checks()
  const recorded = times.map((time, at) => ({
    about: { package_id: 'pkg_1', position: at + 1 },
    recordedAt: isoTime(time),
    index: 0,
  }))
  verifyRecordedTimes(recorded, { log, mayPrecedeLog }, checks)
  return checks.all
    .filter(isTime)
    .map(({ result, position, values }) => `${position} ${values?.fault} ${result}`)
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

test('[AUD-03] entries without a witnessed checkpoint from before are named, once for each package', () => {
  const earlier = { boundsOf: (index: number) => (index < 5 ? {} : { after: isoTime(BEFORE) }) } as OpenedLog
  const found = (indexes: readonly number[]) => {
    const checks = new Checks()
    const recorded = indexes.map((index, at) => ({
      about: { package_id: `pkg_${Math.floor(at / 3)}`, position: (at % 3) + 1 },
      recordedAt: isoTime(AFTER),
      index,
    }))
    verifyRecordedTimes(recorded, { log: earlier }, checks)
    return checks.all
  }
  const code = 'earlier_checkpoint'
  assert.deepEqual(found([5, 6, 7]), [{ code, result: 'holds' }])
  assert.deepEqual(found([3, 4, 5, 4, 6, 7]), [
    { code, result: 'unproved', package_id: 'pkg_0', position: 1, values: { last_position: 2, entries: 2 } },
    { code, result: 'unproved', package_id: 'pkg_1', position: 1, values: { last_position: 1, entries: 1 } },
  ])
})
