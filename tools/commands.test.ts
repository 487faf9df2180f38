import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { test } from 'node:test'

const run = (tool: string, ...args: string[]) =>
  spawnSync(process.execPath, [join(import.meta.dirname, tool), ...args], { encoding: 'utf8' })

test('check lists its steps, runs a single one, and suggests a name for an unknown one', () => {
  assert.match(run('check/check.ts', '--list').stdout, /^types .*\n(?:.*\n)*links /u)

  const one = run('check/check.ts', '--only', 'requirements')
  assert.equal(one.status, 0, one.stdout)
  assert.match(one.stdout, /^✔ requirements .*\n\n1 check in .* s, all passed\n$/u)

  const wrong = run('check/check.ts', '--only', 'lnit')
  assert.equal(wrong.status, 2)
  assert.match(wrong.stderr, /no check lnit; did you mean lint\?/u)
})

test('requirements prints one JSON document with consistent counts', () => {
  const { requirements, areas, total } = JSON.parse(run('requirements/requirements.ts', '--json').stdout)
  assert.equal(requirements.length, total.all)
  assert.equal(
    areas.reduce((sum: number, { proved }: { proved: number }) => sum + proved, 0),
    total.proved,
  )
})

test('requirements lists only the unproved ids, each with its meaning', () => {
  const { requirements } = JSON.parse(run('requirements/requirements.ts', '--json').stdout)
  const gaps = requirements.filter(({ tests }: { tests: unknown[] }) => tests.length === 0)
  const lines = run('requirements/requirements.ts', '--unproved').stdout.split('\n').filter(Boolean)
  assert.equal(lines.length, gaps.length)
  for (const line of lines) assert.match(line, /^[A-Z]+-\d+ +\S.*\.$/u)
})
