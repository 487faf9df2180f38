import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const SUITE = `
import assert from 'node:assert/strict'
import { describe, it, test } from 'node:test'
test('passes', (t) => t.diagnostic('ran 7 vectors'))
describe('group', () => { it('fails', () => assert.equal(1, 2)) })
test('is skipped', (t) => t.skip('no vectors here'))
`

/** Runs the suite in a process of its own, since a reporter is only real behind node's runner. */
function reportOf(suite: string): { status: number | null; lines: string[] } {
  const folder = mkdtempSync(join(tmpdir(), 'aex-reporter-'))
  try {
    writeFileSync(join(folder, 'sample.test.mjs'), suite)
    const reporter = join(import.meta.dirname, 'test-reporter.ts')
    // Without this variable gone, node takes the inner run for a part of the outer one.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const args = ['--test', `--test-reporter=${reporter}`, 'sample.test.mjs']
    const { status, stdout } = spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' })
    return { status, lines: stdout.split('\n') }
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('a failing run shows the failure once, with its place and cause, and no frame of the runner', () => {
  const { status, lines } = reportOf(SUITE)
  assert.equal(status, 1)
  assert.deepEqual(
    lines.filter((line) => line.startsWith('✖ sample')),
    ['✖ sample.test.mjs:5  fails'],
  )
  assert.ok(lines.some((line) => /Expected values to be strictly equal/u.test(line)))
  assert.ok(lines.some((line) => /at .*sample\.test\.mjs:5/u.test(line)))
  assert.ok(!lines.some((line) => /node:internal/u.test(line)))
})

test('diagnostics, reasons of skipped tests and the line of the file are shown', () => {
  const { lines } = reportOf(SUITE)
  assert.ok(lines.includes('ℹ sample.test.mjs:4  ran 7 vectors'))
  assert.ok(lines.includes('– sample.test.mjs:6  is skipped: no vectors here'))
  assert.ok(lines.some((line) => /^✖ +1\/3 +\d+\.\d\d s {2}sample\.test\.mjs$/u.test(line)))
})

test("node's closing lines end the report", () => {
  const { status, lines } = reportOf("import { test } from 'node:test'\ntest('passes', () => {})\n")
  assert.equal(status, 0)
  const closing = ['tests 1', 'suites 0', 'pass 1', 'fail 0', 'cancelled 0', 'skipped 0', 'todo 0']
  assert.deepEqual(
    lines.slice(-9, -2),
    closing.map((line) => `ℹ ${line}`),
  )
  assert.match(lines.at(-2) ?? '', /^ℹ duration_ms /u)
})
