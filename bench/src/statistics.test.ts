import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { median, percentile, percentiles, ratioInTurns, spreadOf } from './statistics.ts'

const numbers = fc.array(fc.integer({ min: -1_000, max: 1_000 }), { minLength: 1, maxLength: 200 })

test('the median of an odd and of an even number of values', () => {
  assert.equal(median([3, 1, 2]), 2)
  assert.equal(median([4, 1, 3, 2]), 2.5)
  assert.ok(Number.isNaN(median([])))
})

test('a ratio in turns does not see what slows both down, and turns over with its sides', () => {
  const close = (found: number, expected: number) => assert.ok(Math.abs(found - expected) < 1e-9, `${found}`)
  close(ratioInTurns([100, 50, 10], [200, 100, 20]).value, 0.5)
  close(ratioInTurns([100, 50, 10], [200, 100, 20]).error, 0)
  close(ratioInTurns([100, 400], [200, 200]).value, 1)
  close(ratioInTurns([100, 400], [200, 200]).error, Math.LN2)
  const rates = fc.array(fc.tuple(fc.integer({ min: 1, max: 1_000 }), fc.integer({ min: 1, max: 1_000 })), {
    minLength: 1,
    maxLength: 50,
  })
  fc.assert(
    fc.property(rates, (pairs) => {
      const [left, right] = [pairs.map(([value]) => value), pairs.map(([, value]) => value)]
      close(ratioInTurns(left, right).value * ratioInTurns(right, left).value, 1)
    }),
  )
  assert.throws(() => ratioInTurns([1], [1, 2]))
})

test('at least half of all values lie on each side of the median', () => {
  fc.assert(
    fc.property(numbers, (values) => {
      const middle = median(values)
      const half = values.length / 2
      assert.ok(values.filter((value) => value <= middle).length >= half)
      assert.ok(values.filter((value) => value >= middle).length >= half)
    }),
  )
})

test('a percentile is a value that was measured, and no smaller one would do', () => {
  fc.assert(
    fc.property(numbers, fc.double({ min: 0.01, max: 1, noNaN: true }), (values, share) => {
      const found = percentile(values, share)
      assert.ok(values.includes(found))
      assert.ok(values.filter((value) => value <= found).length >= share * values.length)
      assert.ok(values.filter((value) => value < found).length < share * values.length)
    }),
  )
})

test('p50 and p99 of the numbers from 1 to 1000', () => {
  const values = Array.from({ length: 1_000 }, (_, i) => 1_000 - i)
  assert.deepEqual(percentiles(values, [0.5, 0.99, 1]), [500, 990, 1_000])
})

test('a spread has the least, the middle and the most', () => {
  assert.deepEqual(spreadOf([5, 1, 3]), { median: 3, lowest: 1, highest: 5 })
})
