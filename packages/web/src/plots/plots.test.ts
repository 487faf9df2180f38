import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { barPlot } from './bar-plot.ts'
import { linePlot } from './line-plot.ts'
import { labelIndexes, niceTicks } from './scale.ts'

const labels = ['10:00', '10:01', '10:02', '10:03']
const plot = { title: 'Packages', unit: 'per minute', labels }

test('an axis starts at zero, ends at or above the highest value, and has few round steps', () => {
  fc.assert(
    fc.property(fc.double({ min: 1e-6, max: 1e12, noNaN: true }), (highest) => {
      const ticks = niceTicks(highest)
      const top = ticks.at(-1) ?? 0
      assert.equal(ticks[0], 0)
      assert.ok(top >= highest * (1 - 1e-6) && top <= highest * 2.6, String(top))
      assert.ok(ticks.length >= 2 && ticks.length <= 6, String(ticks.length))
    }),
  )
  assert.deepEqual(niceTicks(580), [0, 200, 400, 600])
  assert.deepEqual(niceTicks(0), [0, 1])
  for (const bad of [Number.NaN, Number.POSITIVE_INFINITY, -1])
    assert.throws(() => niceTicks(bad), RangeError)
})

test('labels are inside the axis, whatever its length', () => {
  assert.deepEqual(labelIndexes(1), [0])
  assert.deepEqual(labelIndexes(60), [7, 22, 37, 52])
})

test('a gap in the data is a gap in the line, and a lonely value a dot', () => {
  const made = String(linePlot({ ...plot, series: [{ name: 'accepted', values: [0, 10, null, 5] }] }))
  assert.match(made, /d="M125 100L125 100L375 0M875 50L875 50"/u)
})

test('a plot says its values in words and in a table', () => {
  const made = String(linePlot({ ...plot, series: [{ name: 'accepted', values: [1, 4, null, 2] }] }))
  assert.match(made, /aria-label="Packages, per minute\. accepted: latest 2, highest 4\./u)
  assert.match(made, /<summary>Values as a table<\/summary>/u)
  assert.match(made, /10:02<\/div><\/th>.*–/su)
})

test('bars grow from zero and carry their values', () => {
  const made = String(barPlot({ ...plot, series: { name: 'failed', values: [2, 4, 0, null] } }))
  assert.equal(made.match(/<rect/gu)?.length, 4)
  assert.match(made, /height="50"\s*>\s*<title>10:00: 2<\/title>/u)
  assert.match(made, /<title>10:03: –<\/title>/u)
})

test('too many points, too many series and uneven ones are refused', () => {
  const values = [1, 2, 3, 4]
  const series = Array.from({ length: 5 }, (_value, index) => ({ name: String(index), values }))
  assert.throws(() => linePlot({ ...plot, series }), RangeError)
  assert.throws(() => linePlot({ ...plot, series: [{ name: 'a', values: [1] }] }), RangeError)
  assert.throws(() => linePlot({ ...plot, labels: [], series: [] }), RangeError)
  const many = Array.from({ length: 361 }, () => 1)
  assert.throws(
    () => barPlot({ ...plot, labels: many.map(String), series: { name: 'a', values: many } }),
    RangeError,
  )
})
