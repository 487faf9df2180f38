import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import Fastify from 'fastify'
import { registerVerifier } from './verify-page.ts'

test('[AUD-03] the verifier is served without a token, under a policy that allows no connection and no frame', async () => {
  const app = Fastify()
  registerVerifier(app)
  const { statusCode, headers, body } = await app.inject('/verify')
  assert.equal(statusCode, 200)
  assert.match(String(headers['content-type']), /^text\/html/u)
  const policy = String(headers['content-security-policy'])
  assert.match(policy, /^default-src 'none'; script-src 'sha256-[^']+'; style-src 'sha256-[^']+'/u)
  assert.doesNotMatch(policy, /unsafe|connect-src/u)
  assert.match(policy, /; frame-ancestors 'none'$/u)
  assert.match(body, /served by the exchange under examination/u)
  // Whoever takes the digest out has the file of the package, and the digest is of that file.
  const [shown, digest] = /<span id="digest">: <code>([0-9a-f]{64})<\/code><\/span>/u.exec(body) ?? []
  assert.ok(shown)
  const file = readFileSync(new URL(import.meta.resolve('@agent-exchange/log/verify-page.html')), 'utf8')
  assert.equal(body.replace(shown, '<span id="digest"></span>'), file)
  assert.equal(createHash('sha256').update(file).digest('hex'), digest)
  await app.close()
})
