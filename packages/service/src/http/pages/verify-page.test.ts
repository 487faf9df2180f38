import assert from 'node:assert/strict'
import { test } from 'node:test'
import Fastify from 'fastify'
import { registerVerifier } from './verify-page.ts'

test('[AUD-03] the verifier is served without a token, under a policy that allows no connection', async () => {
  const app = Fastify()
  registerVerifier(app)
  const { statusCode, headers, body } = await app.inject('/verify')
  assert.equal(statusCode, 200)
  assert.match(String(headers['content-type']), /^text\/html/u)
  const policy = String(headers['content-security-policy'])
  assert.match(policy, /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'/u)
  assert.doesNotMatch(policy, /unsafe|connect-src/u)
  assert.match(body, /served by the exchange under examination/u)
  await app.close()
})
