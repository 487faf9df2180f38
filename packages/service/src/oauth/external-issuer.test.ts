import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, test } from 'node:test'
import { exportJWK, generateKeyPair, SignJWT } from 'jose'
import { type Clock, systemClock } from '@agent-exchange/server/clock'
import { fetchIssuerKeys } from '@agent-exchange/server/issuer'
import { until } from '@agent-exchange/testkit'
import { callWith, type Exchange, openSeededDatabase, seconds, startExchange } from './oauth-world.fixture.ts'
import { externalIssuer } from './external-issuer.ts'

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

let database: Awaited<ReturnType<typeof openSeededDatabase>>
let pairs: Record<'ES256' | 'RS256' | 'EdDSA', KeyPair>

before(async () => {
  database = await openSeededDatabase()
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

const UNAVAILABLE = {
  code: 'service_overloaded',
  details: { reason: 'issuer_unavailable', retry_after_seconds: 2 },
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

test('[AUTH-01] a key that the issuer adds is found after at most five seconds', async () => {
  const outside = await startIssuer('')
  const documents = await usualDocuments(outside)
  outside.publish(documents)
  await withExchange(outside.issuer, async ({ url }) => {
    const [old, rotated] = await Promise.all(
      (['outside ES256', 'new'] as const).map((kid) =>
        tokenBy('ES256', { iss: outside.issuer, aud: url }, kid),
      ),
    )
    assert.equal((await callWith(url, old)).status, 200)
    const { keys } = (await keySet()) as { keys: { kid: string }[] }
    outside.publish(new Map([...documents, ['/keys', { keys: [...keys, { ...keys[0], kid: 'new' }] }]]))
    assert.deepEqual((await callWith(url, rotated)).body['details'], { reason: 'unknown_key' })
    monotonic += 5_000
    assert.equal((await callWith(url, rotated)).status, 200)
    assert.equal((await callWith(url, old)).status, 200, 'the old key is still published')
  })
  await outside.close()
})

test('[AUTH-01] a key that the issuer removed stops working, also for tokens that were verified before', async () => {
  const outside = await startIssuer('')
  const documents = await usualDocuments(outside)
  outside.publish(documents)
  await withExchange(outside.issuer, async ({ url }) => {
    const claims = { iss: outside.issuer, aud: url, exp: seconds() + 7_200 }
    const [removed, kept] = [await tokenBy('ES256', claims), await tokenBy('RS256', claims)]
    assert.equal((await callWith(url, removed)).status, 200)
    const { keys } = (await keySet()) as { keys: { alg: string }[] }
    const remaining = { keys: keys.filter(({ alg }) => alg !== 'ES256') }
    outside.publish(new Map([...documents, ['/keys', remaining]]))
    assert.equal((await callWith(url, removed)).status, 200, 'the keys are fetched again after ten minutes')
    monotonic += 600_001
    // The first request starts the fetch and does not wait for it.
    const refused = await until('the removed key is refused', async () => {
      const answer = await callWith(url, removed)
      return answer.status !== 200 && answer
    })
    assert.deepEqual(refused.body['details'], { reason: 'unknown_key' })
    assert.equal((await callWith(url, kept)).status, 200)
  })
  await outside.close()
})

test('[AUTH-01] known keys outlast an outage of the issuer, for one hour', async () => {
  const outside = await startIssuer('')
  outside.publish(await usualDocuments(outside))
  await withExchange(outside.issuer, async ({ url }) => {
    const claims = { iss: outside.issuer, aud: url, exp: seconds() + 7_200 }
    assert.equal((await callWith(url, await tokenBy('ES256', claims))).status, 200)
    outside.publish(new Map())
    monotonic += 3_599_000
    const late = await tokenBy('ES256', { ...claims, jti: 'late' })
    assert.equal((await callWith(url, late)).status, 200)
    const unknown = await tokenBy('ES256', claims, 'unknown')
    assert.deepEqual((await callWith(url, unknown)).body, UNAVAILABLE, 'the key may be a new one')
    const asked = outside.asked.length
    for (let i = 0; i < 10; i++) await callWith(url, unknown)
    assert.equal(outside.asked.length, asked, 'a failed fetch is not repeated at once')
    monotonic += 2_000
    assert.deepEqual((await callWith(url, late)).body, UNAVAILABLE)
  })
  await outside.close()
})

test('[AUTH-01] while the issuer is down requests are refused as unavailable; they succeed once it is back', async () => {
  const outside = await startIssuer('')
  await withExchange(outside.issuer, async ({ url }) => {
    const token = await tokenBy('ES256', { iss: outside.issuer, aud: url })
    const down = await callWith(url, token)
    assert.deepEqual(down.body, UNAVAILABLE)
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

test('[AUTH-01][O-08] a token of an external issuer that is valid for long is refused, whenever it says that it was issued', async () => {
  const outside = await startIssuer('')
  outside.publish(await usualDocuments(outside))
  await withExchange(outside.issuer, async ({ url }) => {
    const call = async (iat: number, exp: number) => {
      const claims = { iss: outside.issuer, aud: url, iat, exp }
      const { status, body } = await callWith(url, await tokenBy('ES256', claims))
      return status === 200 ? 'accepted' : body['details']
    }
    const now = seconds()
    const tooLong = { reason: 'lifetime_too_long', maximum_seconds: 7_200 }
    assert.deepEqual(await call(now + 86_400, now + 90_000), tooLong)
    assert.deepEqual(await call(now + 86_400, now + 3_600), { reason: 'claim_iat' })
    assert.deepEqual(await call(now, now + 315_360_000), tooLong)
    assert.deepEqual(await call(now - 86_400, now + 60), tooLong)
    assert.equal(await call(now + 120, now + 420), 'accepted', 'by an issuer whose clock is ahead')
    assert.equal(await call(now - 60, now + 7_140), 'accepted')
  })
  await outside.close()
})

test('[AUTH-01] documents of an issuer are never fetched in clear text from a name that only looks like loopback', async () => {
  for (const issuer of [
    'http://127.attacker.example',
    'http://127.0.0.1.attacker.example',
    'http://localhost.example',
  ]) {
    await assert.rejects(fetchIssuerKeys(issuer), ({ errors }: AggregateError) => {
      for (const error of errors) assert.match(String(error), /is not https/u)
      return errors.length === 2
    })
  }
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
