import assert from 'node:assert/strict'
import { test } from 'node:test'
import { listOf, ratioOf, tableOf, type AreaResult } from '../area.ts'
import { formatNumber } from './format-number.ts'
import { toJson } from './json.ts'
import { describeMachine } from './machine.ts'
import { toSvg } from './svg.ts'
import { formatRatios, formatResult } from './tables.ts'

interface Measured {
  readonly rate: number
  readonly p99: number
}
const ours: readonly Measured[] = [
  { rate: 1_000, p99: Number.NaN },
  { rate: 1_400, p99: Number.NaN },
  { rate: 1_234.5, p99: Number.NaN },
]
const result: AreaResult = {
  tables: [
    tableOf<Measured>(
      'Sending',
      [
        { member: 'rate', id: 'per_second', head: 'per second' },
        { member: 'p99', id: 'p99_ms', head: 'p99 ms' },
      ],
      [
        { id: 'sent', label: 'ours', list: ours },
        { id: 'floor', label: 'floor', list: [{ rate: 2_469, p99: 1 }] },
      ],
    ),
    listOf('Memory', [['memory_mb', 'resident memory in MB', [123.4]]]),
  ],
  ratios: [
    ratioOf(
      'good',
      'good',
      [
        [7, 7.1],
        [10, 10],
      ],
      { at: 'least', must: 0.65, goal: 0.8 },
    ),
    { id: 'better', label: 'better <b>', value: 0.9, wanted: { at: 'least', must: 0.65, goal: 0.8 } },
    { id: 'bad', label: 'bad', value: 20, wanted: { at: 'most', must: 15 } },
    { id: 'excused', label: 'excused', value: 2, wanted: { at: 'most', must: 1.1 }, excuse: 'within 25 ms' },
    { id: 'endless', label: 'endless', value: Infinity, wanted: { at: 'least', must: 4 } },
    { id: 'free', label: 'free', value: 3 },
  ],
  notes: ['A note.'],
}
const machine = describeMachine({ workers: 1, quick: true, foreign_cpu: { sending: 0.01 } })

test('a table has medians and the spread of its first column, and the notes below', () => {
  const text = formatResult(result)
  assert.match(text, /^Sending\n─+\n +per second +from – to +p99 ms\n/)
  assert.match(text, /ours +1,235 +1,000 – 1,400 +–\n/)
  assert.match(text, /floor +2,469 +1\.00\n/)
  assert.match(text, /resident memory in MB +123\n/)
  assert.match(text, /A note\./)
})

test('ratios are compared with their targets and nothing is thrown', () => {
  const lines = formatRatios(result.ratios ?? []).split('\n')
  const lineOf = (label: string) => lines.find((line) => line.startsWith(label)) ?? ''
  assert.match(lineOf('good'), /^good +0\.70 +0\.64 – 0\.77 +at least 0\.65 +0\.80 +reached$/)
  assert.match(lineOf('better'), /goal reached$/)
  assert.match(lineOf('bad'), /missed$/)
  assert.match(lineOf('excused'), /within 25 ms$/)
  assert.match(lineOf('endless'), /not measured$/)
  assert.doesNotMatch(lineOf('free'), /reached|missed/)
})

test('the JSON has ratios and figures by id, and what the machine was', () => {
  const json = JSON.parse(JSON.stringify(toJson([result], machine))) as Record<
    string,
    Record<string, unknown>
  >
  assert.deepEqual(Object.keys(json), ['ratios', 'intervals', 'figures', 'machine'])
  assert.equal(json['ratios']?.['better'], 0.9)
  assert.deepEqual(Object.keys(json['intervals'] ?? {}), ['good'])
  assert.equal(json['figures']?.['sent_per_second'], 1_235)
  assert.equal(json['figures']?.['memory_mb'], 123.4)
  assert.equal(json['figures']?.['sent_p99_ms'], null)
  assert.deepEqual(json['machine']?.['foreign_cpu'], { sending: 0.01 })
})

test('the plot is a well-formed document with escaped text, for light and dark themes', () => {
  const svg = toSvg(result.ratios ?? [], machine)
  assert.match(svg, /^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^>]*viewBox="0 0 860 \d+"/)
  assert.match(svg, /prefers-color-scheme: dark/)
  assert.match(svg, /better &lt;b&gt;/)
  const opened = [...svg.matchAll(/<(svg|style|text)\b/g)].length
  assert.equal(opened, [...svg.matchAll(/<\/(svg|style|text)>/g)].length)
  const bars = [...svg.matchAll(/<rect class="(reached|missed)"/g)].map(([, kind]) => kind)
  assert.deepEqual(bars, ['reached', 'reached', 'missed', 'reached'])
})

test('numbers keep their significant digits', () => {
  assert.equal(formatNumber(12_345.6), '12,346')
  assert.equal(formatNumber(12.345), '12.3')
  assert.equal(formatNumber(0.123), '0.12')
  assert.equal(formatNumber(Number.NaN), '–')
})
