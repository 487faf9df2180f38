import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { test } from 'node:test'
import { aexCommand, shellQuoted } from './next-step.ts'
import { ROOT } from './running-exchange.fixture.ts'
import { VERSION } from './version.ts'

test('the next step calls aex as it was called, in a way that works when it is pasted', () => {
  assert.equal(aexCommand({ env: { npm_command: 'exec' } }), 'npx aex')
  assert.equal(aexCommand({ env: {}, isCheckout: false }), 'aex')
  assert.equal(aexCommand({ env: {}, folder: ROOT }), 'npx aex')
  const elsewhere = aexCommand({ env: {}, folder: '/' })
  assert.match(elsewhere, /^node .*packages\/cli\/bin\/aex\.js$/u)
  const version = execFileSync('sh', ['-c', `${elsewhere} --version`], { encoding: 'utf8', cwd: '/' })
  assert.equal(version.trim(), VERSION)
})

test('a shell reads a quoted path as it was', () => {
  for (const path of ['/srv/exchange', "/tmp/it's here", '/a b/$HOME', '/x;`id`', ''])
    assert.equal(execFileSync('sh', ['-c', `printf %s ${shellQuoted(path)}`], { encoding: 'utf8' }), path)
})
