import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { OPEN_POINT_IDS } from '@agent-exchange/protocol'
import { parseRequirements } from '../../tools/requirements/requirement-coverage.ts'
import { REFUSALS } from '../outside/refusals.ts'
import { createReport, Skipped } from './report.ts'

test('a missing tool is skipped with its reason, and only a defect fails the run', async (t) => {
  const lines: string[] = []
  t.mock.method(console, 'log', (line: string) => void lines.push(line))
  const report = createReport()
  assert.equal(await report.step('a', 'works', async () => 'fine'), true)
  assert.equal(
    await report.step('b', 'is not here', async () => Promise.reject(new Skipped('no such tool'))),
    false,
  )
  assert.equal(report.failed(), false)
  assert.match(lines.at(-1) ?? '', /^– b .* skipped: no such tool$/u)
  assert.equal(
    await report.step('c', 'fails', async () => Promise.reject(new Error('a fault\nand more'))),
    false,
  )
  assert.equal(report.failed(), true)
  report.print()
  assert.equal(lines.at(-1)?.trim().split('\n').length, 4)
  assert.match(lines.at(-1) ?? '', /^✖ c .* a fault\nskipped: no such tool$/mu)
})

test('every excused refusal names a requirement or an open point, and a pointer', () => {
  const page = readFileSync(new URL('../../docs/requirements.md', import.meta.url), 'utf8')
  const known = new Set<string>([...parseRequirements(page).map(({ id }) => id), ...OPEN_POINT_IDS])
  for (const { rule, pointer, reason } of REFUSALS) {
    assert.ok(known.has(rule), rule)
    assert.doesNotThrow(() => new RegExp(pointer, 'u'))
    assert.ok(!new RegExp(pointer, 'u').test(''), `${rule} excuses every pointer`)
    assert.ok(reason.length > 0)
  }
})
