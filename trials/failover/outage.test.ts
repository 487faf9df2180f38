import assert from 'node:assert/strict'
import { test } from 'node:test'
import { longestGapSeconds, outageOf, outageTable } from './outage.ts'

test('the longest gap counts from the fault to the end of the window', () => {
  assert.equal(longestGapSeconds([500, 1_200, 9_200, 9_500], 1_000, 10_000), 8)
  assert.equal(longestGapSeconds([], 1_000, 6_000), 5)
  assert.equal(longestGapSeconds([5_900], 1_000, 6_000), 4.9)
})

test('service is there while one API process answers', () => {
  const outage = outageOf(
    'cut',
    [
      [1_500, 2_500],
      [1_100, 2_000, 2_900],
    ],
    { from: 1_000, to: 3_000, retried: 2 },
  )
  assert.deepEqual(outage, { fault: 'cut', anySeconds: 0.5, eachSeconds: [1, 0.9], retried: 2 })
})

test('the table has one row per kind of fault, with medians and maxima', () => {
  const row = (seconds: number) => ({
    fault: 'kill',
    anySeconds: seconds,
    eachSeconds: [seconds, 2 * seconds],
    retried: 0,
  })
  const [head, , kill, ...rest] = outageTable([row(1), row(4), row(2)], ['one', 'two'])
  assert.equal(head, '| fault | times | no service | one | two |')
  assert.equal(kill, '| kill | 3 | 2.0 (4.0) | 2.0 (4.0) | 4.0 (8.0) |')
  assert.deepEqual(rest, [])
})
