import assert from 'node:assert/strict'
import { test } from 'node:test'
import { aexAt } from '../aex-here.fixture.ts'

test('aex config lists every setting, hides secrets and fails where one is wrong', async () => {
  const settings = {
    AEX_MASTER_KEY: 'ab'.repeat(32),
    DATABASE_URL: 'postgres://u:sesame@h/d',
    AEX_WORKERS: '3',
  }
  const { code, stdout } = await aexAt({ env: settings }, 'config')
  assert.equal(code, 0)
  assert.match(stdout, /AEX_WORKERS = 3 \(default: 1\)\n {4}API processes/u)
  assert.doesNotMatch(stdout, /sesame|abab/u)
  const wrong = await aexAt({ env: { AEX_WORKERS: 'many' } }, 'config', '--json')
  assert.equal(wrong.code, 1)
  const row = JSON.parse(wrong.stdout).find(({ name }: { name: string }) => name === 'AEX_WORKERS')
  assert.match(row.wrong[0], /from 1 to/u)
})
