import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { seeded } from './random.ts'
import { median, percentiles, ratioInterval, studentQuantile } from './statistics.ts'

const numbers = fc.array(fc.integer({ min: -1_000, max: 1_000 }), { minLength: 1, maxLength: 200 })

test('the median of an odd and of an even number of values', () => {
  assert.equal(median([3, 1, 2]), 2)
  assert.equal(median([4, 1, 3, 2]), 2.5)
  assert.ok(Number.isNaN(median([])))
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

test('a percentile is the smallest measured value that satisfies its definition', () => {
  fc.assert(
    fc.property(numbers, fc.double({ min: 0.01, max: 1, noNaN: true }), (values, share) => {
      const [found = Number.NaN] = percentiles(values, [share])
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

test("Student's t has the quantiles of the published tables", () => {
  const published = [
    [1, 12.706],
    [2, 4.303],
    [3, 3.182],
    [4, 2.776],
    [9, 2.262],
    [19, 2.093],
    [20, 2.086],
    [120, 1.98],
  ] as const
  for (const [degrees, expected] of published) {
    assert.equal(Number(studentQuantile(degrees, 0.95).toFixed(3)), expected, `${degrees} degrees`)
  }
  assert.equal(Number(studentQuantile(19, 0.99).toFixed(3)), 2.861)
})

test('the interval of a ratio, calculated by hand', () => {
  // Logarithms 0 and 2 ln 2: mean ln 2, standard error ln 2, one degree of freedom.
  const { value, low, high } = ratioInterval([100, 400], [100, 100])
  assert.equal(value.toFixed(6), '2.000000')
  assert.equal(high.toFixed(0), (2 * 2 ** studentQuantile(1, 0.95)).toFixed(0))
  assert.equal((low * high).toFixed(6), '4.000000')
  const same = ratioInterval([10, 20, 30], [20, 40, 60])
  assert.deepEqual(
    [same.value, same.low, same.high].map((each) => each.toFixed(9)),
    ['0.500000000', '0.500000000', '0.500000000'],
  )
})

test('swapped sides give the reciprocal interval', () => {
  const [left, right] = [
    [105, 98, 130, 99],
    [100, 101, 99, 104],
  ] as const
  const [one, other] = [ratioInterval(left, right), ratioInterval(right, left)]
  assert.equal((one.low * other.high).toFixed(9), '1.000000000')
  assert.equal((one.value * other.value).toFixed(9), '1.000000000')
})

test('about 95 of 100 intervals contain the true ratio', () => {
  const random = seeded(7)
  const normal = () => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random())
  const experiments = 2_000
  let hits = 0
  for (let i = 0; i < experiments; i++) {
    const others = Array.from({ length: 20 }, () => 1_000 * Math.exp(0.3 * normal()))
    const values = others.map((other) => 1.1 * other * Math.exp(0.2 * normal()))
    const { low, high } = ratioInterval(values, others)
    if (low <= 1.1 && 1.1 <= high) hits++
  }
  assert.ok(Math.abs(hits / experiments - 0.95) < 0.015, `${hits} of ${experiments}`)
})

test('series of different lengths are refused, and one round has no interval', () => {
  assert.throws(() => ratioInterval([1], [1, 2]), /same number of rounds/)
  const { value, low } = ratioInterval([1], [2])
  assert.deepEqual([value, low], [0.5, Number.NaN])
})
