import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Comparison } from './against/comparisons.ts'
import type { Area } from './area.ts'
import { helpText, readCommandLine, UsageError } from './command-line.ts'

const area = (name: string, isLong = false): Area => ({
  name,
  what: `what ${name} measures`,
  isLong,
  run: () => Promise.reject(new Error('not here')),
})
const areas = [area('short'), area('other'), area('long', true)]
const comparison = (name: string): Comparison => ({
  name,
  what: `how ${name} differs`,
  layout: 'apart',
  metrics: [],
  turnSeconds: 1,
  measure: () => Promise.reject(new Error('not here')),
})
const known = { areas, comparisons: [comparison('short'), comparison('both')] }
const names = (...args: string[]) => readCommandLine(args, known).areas.map(({ name }) => name)

test('all areas run by default; --quick skips the long ones', () => {
  assert.deepEqual(names(), ['short', 'other', 'long'])
  assert.deepEqual(names('--quick'), ['short', 'other'])
})

test('areas are named by --area or as arguments, long ones with --quick too', () => {
  assert.deepEqual(names('--area', 'long', '--quick'), ['long'])
  assert.deepEqual(names('other', '--area', 'short'), ['short', 'other'])
})

test('invalid arguments are refused with a message', () => {
  for (const args of [
    ['nothing'],
    ['--area', 'nothing'],
    ['--workers', '0'],
    ['--workers', 'two'],
    ['--fast'],
    ['--sizes', '5'],
    ['--per-day', '0'],
    ['--per-day', 'many'],
    ['--minutes', '0'],
    ['--flags', 'nothing'],
    ['--rounds', '20'],
    ['--against', 'main', '--rounds', '1'],
    ['--against', 'main', '--rounds', 'many'],
    ['--against', 'main', '--area', 'long'],
    ['--against', 'main', '--quick'],
    ['--against', 'main', '--svg', 'a.svg'],
  ]) {
    assert.throws(() => readCommandLine(args, known), UsageError, args.join(' '))
  }
})

test('defaults and options', () => {
  const options = readCommandLine(
    ['--json', 'a.json', '--svg', 'a.svg', '--workers', '2', '--sizes', '2000,30000'],
    known,
  )
  assert.deepEqual(
    [options.json, options.svg, options.workers, options.sizes, options.quick],
    ['a.json', 'a.svg', 2, [2_000, 30_000], false],
  )
  assert.deepEqual(readCommandLine([], known).sizes, [10_000, 1_000_000])
  assert.equal(readCommandLine([], known).perDay, 1_000_000)
  assert.equal(readCommandLine(['--per-day', '5000'], known).perDay, 5_000)
  assert.equal(readCommandLine([], known).flagSets, undefined)
  assert.deepEqual(readCommandLine(['--flags=--lite-mode'], known).flagSets, [
    { name: '--lite-mode', settings: ['--lite-mode'] },
  ])
})

test('the help names every area and shows examples', () => {
  const text = helpText(known)
  for (const { name, what } of [...areas, ...known.comparisons])
    assert.ok(text.includes(name) && text.includes(what), name)
  assert.match(text, /Examples:\n {2}npm run bench -- --quick/)
})

test('--against compares all areas that support it, or the named ones', () => {
  const compared = (...args: string[]) => readCommandLine(['--against', 'main', ...args], known).against
  assert.deepEqual(compared(), { ref: 'main', rounds: 20, comparisons: known.comparisons })
  assert.deepEqual(
    compared('both', '--rounds', '40')?.comparisons.map(({ name }) => name),
    ['both'],
  )
  assert.equal(compared('--rounds', '40')?.rounds, 40)
  assert.equal(readCommandLine([], known).against, undefined)
})
