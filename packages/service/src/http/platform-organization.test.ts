import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { generateKeyPair as clientKeyPair } from '@agent-exchange/crypto'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { assertProblem, requestToken, startWorld, type Answer, type World } from '@agent-exchange/testkit'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'

const { organization_id: ORGANIZATION, agent_id: AGENT } = DEFAULT_PROFILE['O-42']

/** Registers and revokes a key of the platform, reads, and downloads. */
async function attempts({ url, sql }: World, token: string): Promise<Answer[]> {
  const { publicKey } = await clientKeyPair('signing')
  const [platformKey] = await sql<{ key_id: string }[]>`
    select key_id from agent_key where agent_id = ${AGENT} limit 1`
  assert.ok(platformKey)
  const key = {
    key_id: 'mine',
    use: 'signing',
    format: 'jwk',
    public_key: publicKey.jwk,
    valid_from: '2026-01-01T00:00:00Z',
  }
  const revocation = { reason: 'compromised', invalid_from: '2026-01-01T00:00:00Z' }
  const requests: [path: string, body?: object][] = [
    [`/v1/agents/${AGENT}/keys`, key],
    [`/v1/agents/${AGENT}/keys/${platformKey.key_id}/revoke`, revocation],
    ['/v1/notifications'],
    ['/content/packages/pkg_any'],
    ['/log/records?package_id=pkg_any'],
  ]
  return Promise.all(
    requests.map(async ([path, body], index) => {
      const response = await fetch(url + path, {
        method: body ? 'POST' : 'GET',
        headers: {
          authorization: `Bearer ${token}`,
          'x-correlation-id': 'any',
          'idempotency-key': `any-${index}`,
          'content-type': 'application/json',
        },
        ...(body && { body: JSON.stringify(body) }),
      })
      const text = await response.text()
      return { status: response.status, headers: response.headers, text, body: JSON.parse(text) }
    }),
  )
}

async function assertRefused(world: World, token: string): Promise<void> {
  for (const answer of await attempts(world, token)) assertProblem(answer, 'not_permitted')
  const events = await world.sql`
    select from agent_key_event where agent_id = ${AGENT} and kind = 'revoked'`
  assert.equal(events.length, 0)
}

test('[O-42][AUTH-04] a token of an external issuer that names the organization or the agent of the platform is refused', async () => {
  const { publicKey, privateKey } = await generateKeyPair('ES256')
  const keys = { keys: [{ ...(await exportJWK(publicKey)), alg: 'ES256', kid: 'outside' }] }
  const server = createServer((request, response) => {
    const isMetadata = request.url?.startsWith('/.well-known') === true
    response.end(JSON.stringify(isMetadata ? { issuer, jwks_uri: `${issuer}/keys` } : keys))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  await using cleanup = new AsyncDisposableStack()
  cleanup.defer(() => server.close().closeAllConnections())
  const world = cleanup.use(await startWorld({ config: { issuer } }))
  await world.operate('POST', '/organizations', { organization_id: 'org_customer', name: 'Customer' })
  const now = Math.floor(Date.parse(world.clock.now()) / 1_000)
  const tokenFor = (claims: object) =>
    new SignJWT({ sub: 'x', client_id: 'app', iat: now, exp: now + 300, ...claims })
      .setProtectedHeader({ alg: 'ES256', typ: 'at+jwt', kid: 'outside' })
      .setIssuer(issuer)
      .setAudience(world.url)
      .sign(privateKey)
  await assertRefused(world, await tokenFor({ organization_id: ORGANIZATION }))
  await assertRefused(world, await tokenFor({ organization_id: 'org_customer', agent_id: AGENT }))
  const [, , list] = await attempts(world, await tokenFor({ organization_id: 'org_customer' }))
  assert.equal(list?.status, 200)
})

test('[O-42][AUTH-04] a token of the embedded issuer that names the organization of the platform is refused', async () => {
  await using world = await startWorld()
  const { publicKey } = await clientKeyPair('signing')
  const refused = await world.operate('POST', '/clients', {
    organization_id: ORGANIZATION,
    public_jwk: publicKey.jwk,
  })
  assert.equal(refused.status, 403)
  // A client that got there by other means, such as a change of O-42.
  const made = await world.organization('customer')
  await world.sql`
    update oauth_client set organization_id = ${ORGANIZATION} where client_id = ${made.clientId}`
  const { access_token } = await requestToken({
    baseUrl: world.url,
    clientId: made.clientId,
    credential: { method: 'private_key_jwt', key: made.clientKey.privateJwk },
  })
  await assertRefused(world, access_token)
})
