import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { aexCommand, shellQuoted } from './next-step.ts'

test('what was called by npx is called by npx in the next step too', () => {
  assert.equal(aexCommand({ npm_command: 'exec' }), 'npx aex')
  assert.equal(aexCommand({}), 'aex')
})

test('a shell reads a quoted path as it was', () => {
  for (const path of ['/srv/exchange', "/tmp/it's here", '/a b/$HOME', '/x;`id`', ''])
    assert.equal(execFileSync('sh', ['-c', `printf %s ${shellQuoted(path)}`], { encoding: 'utf8' }), path)
})
