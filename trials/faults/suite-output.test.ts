import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { test } from 'node:test'
import { suiteOutput } from './suite-output.ts'

const PRINTS = `
console.log('✔ 12 tests  a.test.ts')
console.log('✖ b.test.ts\\n    exit code 1\\nℹ tests 12\\nℹ fail 1\\nℹ duration_ms 5')
console.error('a listener was left open')
for (let i = 0; i < 500; i++) console.error('again')
console.error('by b.test.ts')`

test('a failing suite shows its failures and what its processes printed on stderr, bounded, and no passing file', async () => {
  const child = spawn(process.execPath, ['-e', PRINTS], { stdio: ['ignore', 'pipe', 'pipe'] })
  const output = suiteOutput(child)
  await once(child, 'close')
  assert.deepEqual(output.totals, ['tests 12', 'fail 1'])
  assert.deepEqual(output.said.slice(0, 2), ['✖ b.test.ts', '    exit code 1'])
  assert.equal(output.said.at(-1), 'by b.test.ts')
  assert.ok(output.said.length < 100)
})
