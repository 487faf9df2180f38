import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'

const REPORTER = join(import.meta.dirname, '../test-reporter/test-reporter.ts')
const RUNNER = join(import.meta.dirname, 'shared-process.ts')
const HANDLE_LIMIT_MS = 300
const IMPORT =
  "import assert from 'node:assert/strict'\nimport { after, beforeEach, test } from 'node:test'\n"

/** Runs test files in as many processes that share them. */
function run(files: Readonly<Record<string, string>>, processes = 1) {
  const folder = mkdtempSync(join(tmpdir(), 'aex-shared-'))
  try {
    const claims = join(folder, 'claims')
    mkdirSync(claims)
    const paths = Object.entries(files).map(([name, text]) => {
      const path = join(folder, name)
      writeFileSync(path, IMPORT + text)
      return path
    })
    const entries = Array.from({ length: processes }, (_, index) => {
      const entry = join(folder, `process-${index}.mjs`)
      const call = `runTestFiles(${JSON.stringify(paths)}, ${JSON.stringify(claims)}, ${HANDLE_LIMIT_MS})`
      writeFileSync(entry, `import { runTestFiles } from ${JSON.stringify(RUNNER)}\nawait ${call}\n`)
      return entry
    })
    // With this variable, node takes the inner run for a part of the outer one.
    const { NODE_TEST_CONTEXT: _, ...env } = process.env
    const args = ['--test', `--test-reporter=${REPORTER}`, ...entries]
    return spawnSync(process.execPath, args, { cwd: folder, env, encoding: 'utf8' })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

test('files in one process have hooks, variables and a working folder of their own', () => {
  const { status, stdout } = run({
    'a.test.mjs': `
      const before = process.cwd()
      process.chdir('/')
      process.env.FROM_A = 'yes'
      beforeEach(() => assert.equal(process.env.FROM_A, 'yes'))
      after(() => (globalThis.isOver = before))
      test('a', () => {})`,
    'b.test.mjs': `
      test('b', () => {
        assert.equal(process.env.FROM_A, undefined)
        assert.equal(globalThis.isOver, process.cwd())
      })`,
  })
  assert.equal(status, 0, stdout)
  assert.match(stdout, /1\/1 .*a\.test\.mjs\n[^]*1\/1 .*b\.test\.mjs\n[^]*tests 2\n/u)
})

test('a failing test and a file that cannot be loaded are reported, and the next file runs', () => {
  const { status, stdout } = run({
    'a.test.mjs': `test('wrong', () => assert.equal(1, 2))`,
    'b.test.mjs': `throw new Error('no world')`,
    'c.test.mjs': `test('fine', () => {})`,
  })
  assert.equal(status, 1)
  assert.match(stdout, /✖ a\.test\.mjs:3 {2}wrong\n[^]*✖ +0\/1 .*a\.test\.mjs\n/u)
  assert.match(stdout, /no world[^]*✖ +0\/0 .*b\.test\.mjs\n[^]*✔ +1\/1 .*c\.test\.mjs\n/u)
})

test('a handle that a file leaves open fails the process and does not hang it', () => {
  const { status, stdout } = run({ 'a.test.mjs': `setInterval(() => {}, 1_000)\ntest('fine', () => {})` })
  assert.equal(status, 1)
  assert.match(stdout, /left a handle open: .*Timeout/u)
})

test('processes share the files: each runs once', () => {
  const files = Object.fromEntries(
    ['a', 'b', 'c', 'd'].map((name) => [`${name}.test.mjs`, `test('${name}', () => {})`]),
  )
  const { status, stdout } = run(files, 2)
  assert.equal(status, 0, stdout)
  assert.deepEqual(stdout.match(/\w\.test\.mjs/gu)?.toSorted(), Object.keys(files))
})
