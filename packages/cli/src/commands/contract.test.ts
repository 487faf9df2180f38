import assert from 'node:assert/strict'
import { test } from 'node:test'
import { DEFAULT_PROFILE, openApiDocument } from '@agent-exchange/protocol'
import { aexHere } from '../aex-here.fixture.ts'
import { runAex } from '../aex-process.fixture.ts'

test('[API-02] aex openapi prints the document, with the address it is given', async () => {
  const plain = await aexHere('openapi', '--json')
  assert.deepEqual(JSON.parse(plain.stdout), openApiDocument())
  const addressed = await aexHere('openapi', '--url', 'https://exchange.example')
  assert.deepEqual(JSON.parse(addressed.stdout).servers, [{ url: 'https://exchange.example' }])
})

test('aex profile prints the effective profile, and explains one point', async () => {
  const whole = await aexHere('profile', '--json')
  assert.deepEqual(JSON.parse(whole.stdout), DEFAULT_PROFILE)
  const one = await aexHere('profile', '--explain', 'O-04')
  assert.equal(one.code, 0)
  assert.match(
    one.stdout,
    /^O-04 What counts as access.*\n {5}Ours: .*\n {5}access_states = \["opened","responded"\]/,
  )
  const unknown = await aexHere('profile', '--explain', 'O-99')
  assert.equal(unknown.code, 1)
  assert.match(unknown.stderr, /Allowed choices are O-01/)
})

test('a wrong call exits with 1, names the mistake and shows the way to help; help shows examples', async () => {
  const wrong = await runAex(['validate'])
  assert.equal(wrong.code, 1)
  assert.match(wrong.stderr, /missing required argument 'files'\n+.*--help/)
  const help = await runAex(['validate', '--help'])
  assert.equal(help.code, 0)
  assert.match(help.stdout, /Examples:\n {2}\$ aex validate/)
})
