import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Step } from './check-steps.ts'
import { STEPS } from './check-steps.ts'
import type { StepResult } from './run-steps.ts'
import { runSteps } from './run-steps.ts'

const script = (text: string): [string, ...string[]] => ['node', '--eval', text]
const step = (name: string, ...texts: string[]): Step => ({ name, what: name, commands: texts.map(script) })
const runOne = async (one: Step): Promise<StepResult> => {
  const [result] = await runSteps([one], 1, () => {})
  assert.ok(result)
  return result
}

test('a step passes when all its commands do', async () => {
  const { outcome } = await runOne(step('two', '0', '0'))
  assert.equal(outcome, 'passed')
})

test('the first failing command ends its step and reports both output streams', async () => {
  const { outcome, output } = await runOne(
    step(
      'three',
      "console.log('fine')",
      "console.log('out'); console.error('err'); process.exit(3)",
      "console.log('no')",
    ),
  )
  assert.equal(outcome, 'failed')
  assert.match(output, /out/u)
  assert.match(output, /err/u)
  assert.doesNotMatch(output, /fine|no/u)
})

test('a missing program fails its step and is named', async () => {
  const { outcome, output } = await runOne({ name: 'x', what: 'x', commands: [['no-such-program']] })
  assert.equal(outcome, 'failed')
  assert.match(output, /no-such-program/u)
})

test('a step whose file is missing is skipped, not passed', async () => {
  const { outcome, output } = await runOne({
    ...step('x', 'process.exit(1)'),
    needs: 'tools/no-such-file.ts',
  })
  assert.equal(outcome, 'skipped')
  assert.match(output, /no-such-file/u)
})

test('steps share the lanes, and each result is reported as soon as it is available', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'aex-steps-'))
  const mark = JSON.stringify(join(folder, 'mark'))
  // Ends after the third step has run, so it passes only if another lane runs in parallel.
  const waiting = `setInterval(() => fs.existsSync(${mark}) && process.exit(0), 10); setTimeout(() => process.exit(1), 20000)`
  const steps = [
    step('waiting', waiting),
    step('quick', '0'),
    step('marking', `fs.writeFileSync(${mark}, '')`),
  ]
  const seen: string[] = []
  try {
    await runSteps(steps, 2, ({ step: { name }, outcome }) => seen.push(`${name} ${outcome}`))
  } finally {
    rmSync(folder, { recursive: true })
  }
  assert.equal(seen[0], 'quick passed')
  assert.deepEqual(seen.toSorted(), ['marking passed', 'quick passed', 'waiting passed'])
})

test('names of checks are unique, because --only selects by name', () => {
  assert.equal(new Set(STEPS.map(({ name }) => name)).size, STEPS.length)
})
