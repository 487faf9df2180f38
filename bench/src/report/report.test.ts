import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { AreaResult } from '../area.ts'
import { toJson } from './json.ts'
import { describeMachine } from './machine.ts'
import { toSvg } from './svg.ts'
import { formatRatios, formatResult } from './tables.ts'
import { formatNumber } from './units.ts'

const result: AreaResult = {
  title: 'Sending',
  plot: 'Sent <a second>',
  figures: [
    {
      id: 'sent_per_second',
      label: 'ours',
      value: 1_234.5,
      unit: 'per_second',
      spread: { median: 1_234.5, lowest: 1_000, highest: 1_400 },
      reference: { name: 'floor', value: 2_469 },
    },
    { id: 'floor_per_second', label: 'floor', value: 2_469, unit: 'per_second', isOther: true },
    { id: 'broken_ms', label: 'broken', value: Number.NaN, unit: 'milliseconds' },
  ],
  ratios: [
    { id: 'good', label: 'good', value: 0.7, error: 0.04, wanted: { at: 'least', must: 0.65, goal: 0.8 } },
    { id: 'better', label: 'better', value: 0.9, wanted: { at: 'least', must: 0.65, goal: 0.8 } },
    { id: 'bad', label: 'bad', value: 20, wanted: { at: 'most', must: 15 } },
    { id: 'excused', label: 'excused', value: 2, wanted: { at: 'most', must: 1.1 }, excuse: 'within 25 ms' },
    { id: 'endless', label: 'endless', value: Infinity, wanted: { at: 'least', must: 4 } },
    { id: 'free', label: 'free', value: 3 },
  ],
  notes: ['A note.'],
}
const machine = describeMachine({ workers: 1, quick: true, foreign_cpu: { sending: 0.01 } })

test('a table has values with units, spread and ratio, and the notes below', () => {
  const text = formatResult(result)
  assert.match(text, /^Sending\n─+\n/)
  assert.match(text, /ours +1,235 \/s +1,000 – 1,400 +0\.50 +floor/)
  assert.match(text, /A note\./)
})

test('ratios are compared with their targets and nothing is thrown', () => {
  const lines = formatRatios(result.ratios ?? []).split('\n')
  const lineOf = (label: string) => lines.find((line) => line.startsWith(label)) ?? ''
  assert.match(lineOf('good'), /^good +0\.70 +0\.04 +at least 0\.65 +0\.80 +reached$/)
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
  assert.deepEqual(Object.keys(json), ['ratios', 'figures', 'machine'])
  assert.equal(json['ratios']?.['good'], 0.7)
  assert.ok(!('sent_per_second' in (json['ratios'] ?? {})), 'an area that names its ratios has no others')
  assert.equal(json['figures']?.['sent_per_second'], 1_235)
  assert.equal(json['figures']?.['broken_ms'], null)
  const { ratios: _named, ...unnamed } = result
  assert.deepEqual(toJson([unnamed], machine), {
    ...toJson([unnamed], machine),
    ratios: { sent_per_second: 0.5 },
  })
  assert.deepEqual(json['machine']?.['foreign_cpu'], { sending: 0.01 })
})

test('the plot is a well-formed document with escaped text, for light and dark themes', () => {
  const svg = toSvg([result], machine)
  assert.match(svg, /^<svg [^>]*xmlns="http:\/\/www\.w3\.org\/2000\/svg"[^>]*viewBox="0 0 860 \d+"/)
  assert.match(svg, /prefers-color-scheme: dark/)
  assert.match(svg, /Sent &lt;a second&gt;/)
  const opened = [...svg.matchAll(/<(svg|style|text)\b/g)].length
  const closed = [...svg.matchAll(/<\/(svg|style|text)>/g)].length
  assert.equal(opened, closed)
  const bars = [...svg.matchAll(/<rect class="(ours|other|missed)"[^>]* width="([\d.]+)"/g)]
  assert.deepEqual(
    bars.map(([, kind]) => kind),
    ['ours', 'other', 'ours', 'ours', 'missed', 'ours'],
  )
  const [ours, floor] = bars.map(([, , width]) => Number(width))
  assert.ok(Math.abs((ours ?? 0) / (floor ?? 1) - 0.5) < 0.01)
})

test('numbers keep their significant digits', () => {
  assert.equal(formatNumber(12_345.6), '12,346')
  assert.equal(formatNumber(12.345), '12.3')
  assert.equal(formatNumber(0.123), '0.12')
  assert.equal(formatNumber(Number.NaN), '–')
})
