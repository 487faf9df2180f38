import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { type Clock, systemClock } from '../kernel/clock.ts'
import { callWith, type Exchange, openTestDatabase, seconds, startExchange } from './oauth-world.fixture.ts'
import { externalIssuer } from './token-keys.ts'

type KeyPair = Awaited<ReturnType<typeof generateKeyPair>>

/** A minimal external issuer. */
async function startIssuer(path: string) {
  let documents = new Map<string, object>()
  const asked: string[] = []
  const server = createServer((request, response) => {
    asked.push(request.url ?? '')
    const document = documents.get(request.url ?? '')
    response.statusCode = document ? 200 : 404
    response.end(JSON.stringify(document ?? {}))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return {
    issuer: origin + path,
    origin,
    asked,
    publish: (next: Map<string, object>) => {
      documents = next
    },
    close: () => new Promise((resolve) => server.close(resolve).closeAllConnections()),
  }
}

let database: Awaited<ReturnType<typeof openTestDatabase>>
let pairs: Record<'ES256' | 'RS256' | 'EdDSA', KeyPair>

before(async () => {
  database = await openTestDatabase()
  pairs = {
    ES256: await generateKeyPair('ES256'),
    RS256: await generateKeyPair('RS256'),
    EdDSA: await generateKeyPair('EdDSA'),
  }
})
after(() => database[Symbol.asyncDispose]())

async function keySet(): Promise<object> {
  const keys = Object.entries(pairs).map(async ([alg, { publicKey }]) => ({
    ...(await exportJWK(publicKey)),
    alg,
    kid: `outside ${alg}`,
  }))
  return { keys: await Promise.all(keys) }
}

/** The documents of an issuer without a path. */
async function usualDocuments({ issuer, origin }: { issuer: string; origin: string }) {
  return new Map<string, object>([
    ['/.well-known/oauth-authorization-server', { issuer, jwks_uri: `${origin}/keys` }],
    ['/keys', await keySet()],
  ])
}

function tokenBy(alg: keyof typeof pairs, claims: object, kid = `outside ${alg}`): Promise<string> {
  const times = { iat: seconds(), exp: seconds() + 300 }
  return new SignJWT({ sub: 'x', client_id: 'app-1', organization_id: 'org_a', ...times, ...claims })
    .setProtectedHeader({ alg, typ: 'at+jwt', kid })
    .sign(pairs[alg].privateKey)
}

let monotonic = 0
const clock: Clock = { ...systemClock, monotonicMilliseconds: () => monotonic }

async function withExchange(issuer: string, work: (exchange: Exchange) => Promise<void>): Promise<void> {
  const exchange = await startExchange(database.db, { issuer: externalIssuer(issuer, clock) })
  try {
    await work(exchange)
  } finally {
    await exchange[Symbol.asyncDispose]()
  }
}

for (const [form, path, address] of [
  ['RFC 8414', '/realms/a', '/.well-known/oauth-authorization-server/realms/a'],
  ['OpenID Connect', '/realms/a', '/realms/a/.well-known/openid-configuration'],
] as const) {
  test(`[AUTH-01] tokens of an external issuer are accepted after ${form} discovery`, async () => {
    const outside = await startIssuer(path)
    outside.publish(
      new Map<string, object>([
        [address, { issuer: outside.issuer, jwks_uri: `${outside.origin}/keys` }],
        ['/keys', await keySet()],
      ]),
    )
    await withExchange(outside.issuer, async ({ url }) => {
      for (const alg of ['ES256', 'RS256', 'EdDSA'] as const) {
        const { status, body } = await callWith(url, await tokenBy(alg, { iss: outside.issuer, aud: url }))
        assert.equal(status, 200, JSON.stringify(body))
        assert.equal(body['clientId'], 'app-1')
      }
      assert.equal(outside.asked.filter((each) => each === '/keys').length, 1)
      const foreign = await callWith(
        url,
        await tokenBy('ES256', { iss: outside.issuer, aud: 'https://x.example' }),
      )
      assert.deepEqual(foreign.body['details'], { reason: 'claim_aud' })
    })
    await outside.close()
  })
}

test('[AUTH-01] unknown key ids do not cause repeated key fetches', async () => {
  const outside = await startIssuer('')
  outside.publish(await usualDocuments(outside))
  await withExchange(outside.issuer, async ({ url }) => {
    for (let i = 0; i < 10; i++) {
      const token = await tokenBy('ES256', { iss: outside.issuer, aud: url }, `unknown ${i}`)
      assert.deepEqual((await callWith(url, token)).body['details'], { reason: 'unknown_key' })
    }
    assert.equal(outside.asked.filter((each) => each === '/keys').length, 1)
  })
  await outside.close()
})

test('[AUTH-01] while the issuer is down requests are refused as unavailable; they succeed once it is back', async () => {
  const outside = await startIssuer('')
  await withExchange(outside.issuer, async ({ url }) => {
    const token = await tokenBy('ES256', { iss: outside.issuer, aud: url })
    const down = await callWith(url, token)
    assert.deepEqual(down.body, { code: 'service_overloaded', details: { reason: 'issuer_unavailable' } })
    for (let i = 0; i < 10; i++) await callWith(url, token)
    assert.equal(outside.asked.length, 2, 'two addresses, each asked once')
    monotonic += 2_000
    outside.publish(await usualDocuments(outside))
    assert.equal((await callWith(url, token)).status, 200)
  })
  await outside.close()
})

test('[AUTH-01] metadata of another issuer is not used', async () => {
  const outside = await startIssuer('')
  outside.publish(await usualDocuments({ ...outside, issuer: 'https://honest.example' }))
  await withExchange(outside.issuer, async ({ url }) => {
    const token = await tokenBy('ES256', { iss: outside.issuer, aud: url })
    assert.equal((await callWith(url, token)).body['code'], 'service_overloaded')
    assert.ok(!outside.asked.includes('/keys'))
  })
  await outside.close()
})

test('[AUTH-03] for a client of an external issuer only the organization is checked, and an unknown one is refused', async () => {
  const outside = await startIssuer('')
  outside.publish(await usualDocuments(outside))
  await withExchange(outside.issuer, async ({ url }) => {
    const unknown = await tokenBy('ES256', { iss: outside.issuer, aud: url, organization_id: 'org_unknown' })
    assert.equal((await callWith(url, unknown)).body['code'], 'caller_suspended')
    const suspended = await tokenBy('ES256', { iss: outside.issuer, aud: url, organization_id: 'org_b' })
    assert.equal((await callWith(url, suspended)).status, 200)
    await database.db`update organization set status = 'suspended' where organization_id = 'org_b'`
    assert.equal((await callWith(url, suspended)).body['code'], 'caller_suspended')
  })
  await outside.close()
})
