import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeMachine } from '../report/machine.ts'
import { againstJson, formatAgainst } from './against-report.ts'
import type { Metric } from './comparisons.ts'
import type { Series } from './rounds.ts'

const metric = (id: string, better: Metric['better']): Metric => ({
  id,
  label: id,
  better,
})
const there = [100, 101, 99, 100]
const times = (factor: number) => there.map((value, i) => value * factor * (1 + i / 1_000))
const series: readonly Series[] = [
  { metric: metric('faster', 'higher'), here: times(1.2), there },
  { metric: metric('slower', 'higher'), here: times(0.8), there },
  { metric: { ...metric('longer', 'lower'), wanted: { at: 'most', must: 1.05 } }, here: times(1.2), there },
  { metric: { ...metric('shorter', 'lower'), wanted: { at: 'most', must: 1.05 } }, here: times(0.8), there },
  { metric: metric('same', 'higher'), here: [101, 100, 99, 100], there },
]
const compared = { ref: 'v1', commit: 'a'.repeat(40), workingTree: 'b1b1b1b-dirty', rounds: 4 }

test('a verdict requires the whole interval on one side of 1', () => {
  const lines = formatAgainst(series, compared).split('\n')
  const lineOf = (id: string) => lines.find((line) => line.startsWith(id)) ?? ''
  assert.match(lineOf('faster'), /^faster +120 +100 +1\.20\d +1\.1\d\d – 1\.2\d\d +better$/)
  assert.match(lineOf('slower'), /worse$/)
  assert.match(lineOf('longer'), /worse +at most 1\.05 +missed$/)
  assert.match(lineOf('shorter'), /better +at most 1\.05 +reached$/)
  assert.match(lineOf('same'), /not shown to differ$/)
  assert.match(lines.join('\n'), /Fewer than 20 rounds/)
  assert.doesNotMatch(formatAgainst(series, { ...compared, rounds: 20 }), /Fewer/)
})

test('the JSON has ratios, intervals and every round', () => {
  const machine = describeMachine({ workers: 1, quick: false, foreign_cpu: {} })
  const json = againstJson(series, compared, machine) as Record<string, Record<string, unknown>>
  assert.deepEqual(Object.keys(json), ['against', 'ratios', 'intervals', 'better', 'rounds', 'machine'])
  const ratio = json['ratios']?.['faster'] as number
  const [low = Number.NaN, high = Number.NaN] = (json['intervals'] ?? {})['faster'] as number[]
  assert.ok(low < ratio && ratio < high, `${low} – ${high}`)
  assert.deepEqual(json['rounds']?.['same'], { working_tree: [101, 100, 99, 100], against: there })
})
