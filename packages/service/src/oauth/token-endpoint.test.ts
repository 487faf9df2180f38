import assert from 'node:assert/strict'
import { createHmac, randomUUID } from 'node:crypto'
import { after, before, test } from 'node:test'
import { discover, requestToken } from '@agent-exchange/testkit'
import { decodeJwt, decodeProtectedHeader } from 'jose'
import {
  addKeyClient,
  assertionOf,
  callWith,
  type Exchange,
  openSeededDatabase,
  postToken,
  seconds,
  startExchange,
  type TestClient,
  withAssertion,
} from './oauth-world.fixture.ts'

let database: Awaited<ReturnType<typeof openSeededDatabase>>
let exchange: Exchange
let client: TestClient

before(async () => {
  database = await openSeededDatabase()
  exchange = await startExchange(database.db)
  client = await addKeyClient(database.db)
})
after(async () => {
  await exchange[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

const credential = ({ key }: TestClient) => ({ method: 'private_key_jwt' as const, key })

async function tokenFor(who: TestClient, url = exchange.url): Promise<string> {
  const answer = await postToken(url, withAssertion(await assertionOf(who, url)))
  assert.equal(answer.status, 200)
  return answer.body['access_token'] ?? ''
}

test('[AUTH-01][AUTH-02][API-08] an independent client library works from discovery to a call with private_key_jwt', async () => {
  const agentClient = await addKeyClient(database.db, { agentId: 'agent_one' })
  const { server, resourceServer } = await discover({ baseUrl: exchange.url })
  assert.equal(resourceServer.resource, exchange.url)
  assert.equal(server.issuer, exchange.url)
  assert.equal('authorization_endpoint' in server, false)

  const token = await requestToken({
    baseUrl: exchange.url,
    clientId: agentClient.clientId,
    credential: credential(agentClient),
  })
  assert.equal(token.token_type, 'bearer')
  assert.equal(token.expires_in, 300)
  const { typ, alg, kid } = decodeProtectedHeader(token.access_token)
  assert.deepEqual(
    { typ, alg, kid },
    { typ: 'at+jwt', alg: 'ES256', kid: (await exchange.keys.tokenKeys()).keys[0]?.keyId },
  )
  const claims = decodeJwt(token.access_token)
  assert.equal(claims.aud, exchange.url)
  assert.equal(claims['organization_id'], 'org_a')
  assert.equal(claims['agent_id'], 'agent_one')
  assert.equal(claims['client_id'], agentClient.clientId)
  assert.equal(claims['cnf'], undefined)
  assert.equal((claims.exp ?? 0) - (claims.iat ?? 0), 300)

  const { status, body } = await callWith(exchange.url, token.access_token)
  assert.equal(status, 200)
  assert.deepEqual(body, {
    organizationId: 'org_a',
    agentId: 'agent_one',
    clientId: agentClient.clientId,
  })
})

test('[AUTH-01] the resource parameter is optional, and any other resource is refused', async () => {
  const request = { baseUrl: exchange.url, clientId: client.clientId, credential: credential(client) }
  const { access_token } = await requestToken({ ...request, resource: null })
  assert.equal(decodeJwt(access_token).aud, exchange.url)
  await assert.rejects(requestToken({ ...request, resource: 'https://elsewhere.example' }), {
    error: 'invalid_target',
  })
})

test('metadata is served at every well-known URL, and the JWKS contains no private parts', async () => {
  const paths = ['oauth-authorization-server', 'openid-configuration']
  const documents = await Promise.all(
    paths.map(async (path) => (await fetch(`${exchange.url}/.well-known/${path}`)).json()),
  )
  assert.deepEqual(documents[0], documents[1])
  const { jwks_uri } = documents[0] as { jwks_uri: string }
  const { keys } = (await (await fetch(jwks_uri)).json()) as { keys: object[] }
  assert.deepEqual(Object.keys(keys[0] ?? {}).toSorted(), ['alg', 'crv', 'kid', 'kty', 'use', 'x', 'y'])
})

test('[AUTH-02] the audience of an assertion may be the issuer or the token endpoint', async () => {
  for (const audience of [exchange.url, `${exchange.url}/oauth/token`, [exchange.url]]) {
    const assertion = await assertionOf(client, exchange.url, { aud: audience })
    assert.equal((await postToken(exchange.url, withAssertion(assertion))).status, 200)
  }
})

test('[AUTH-02] a client may use any key id, because it has only one key', async () => {
  const named = { ...credential(client), kid: 'any name' }
  const request = { baseUrl: exchange.url, clientId: client.clientId, credential: named }
  assert.ok((await requestToken(request)).access_token)
})

test('[AUTH-01] URLs are derived from the configuration, not from the Host header', async () => {
  const publicUrl = 'https://exchange.example'
  const behind = await startExchange(database.db, { publicUrl })
  try {
    // Only the public URL is an audience, not the listener's own.
    const local = behind.listenUrl
    const own = await assertionOf(client, `${local}/oauth/token`)
    assert.equal((await postToken(local, withAssertion(own))).status, 401)
    const right = await postToken(local, withAssertion(await assertionOf(client, `${publicUrl}/oauth/token`)))
    assert.equal(right.status, 200)
    assert.equal(decodeJwt(right.body['access_token'] ?? '').iss, publicUrl)
  } finally {
    await behind[Symbol.asyncDispose]()
  }
})

test('[AUTH-01] metadata of a {base_url} with a path is at the URL of RFC 8414', async () => {
  const publicUrl = 'https://exchange.example/base'
  const behind = await startExchange(database.db, { publicUrl })
  try {
    const response = await fetch(`${behind.listenUrl}/.well-known/oauth-authorization-server/base`)
    const metadata = (await response.json()) as Record<string, unknown>
    assert.equal(metadata['issuer'], publicUrl)
    assert.equal(metadata['token_endpoint'], `${publicUrl}/oauth/token`)
    const assertion = await assertionOf(client, `${publicUrl}/oauth/token`)
    assert.equal((await postToken(behind.listenUrl, withAssertion(assertion))).status, 200)
  } finally {
    await behind[Symbol.asyncDispose]()
  }
})

test('[AUTH-01] iat and exp of tokens use the clock of the exchange', async () => {
  let now = '2031-05-06T07:08:09.000Z'
  const clock = { now: () => now, monotonicMilliseconds: () => 0 }
  const later = await startExchange(database.db, { clock })
  try {
    const token = await tokenFor(client, later.url)
    assert.equal(decodeJwt(token).iat, Date.parse(now) / 1_000)
    assert.equal((await callWith(later.url, token)).status, 200)
    now = '2031-05-06T07:13:40.000Z'
    assert.deepEqual((await callWith(later.url, token)).body['details'], { reason: 'expired' })
  } finally {
    await later[Symbol.asyncDispose]()
  }
})

test('[AUTH-01] success and error responses are no-store', async () => {
  const good = await postToken(exchange.url, withAssertion(await assertionOf(client, exchange.url)))
  const bad = await postToken(exchange.url, { client_id: 'nobody' })
  for (const { headers } of [good, bad]) {
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.match(headers.get('content-type') ?? '', /^application\/json/)
  }
})

test('[AUTH-02] of many concurrent uses of one assertion on two servers exactly one is accepted', async () => {
  const second = await startExchange(database.db, { publicUrl: exchange.url })
  try {
    for (let round = 0; round < 3; round++) {
      const parameters = withAssertion(await assertionOf(client, exchange.url))
      const answers = await Promise.all(
        Array.from({ length: 16 }, (_, i) => postToken(i % 2 ? exchange.url : second.listenUrl, parameters)),
      )
      const statuses = answers.map(({ status }) => status).toSorted((a, b) => a - b)
      assert.deepEqual(statuses, [200, ...Array.from({ length: 15 }, () => 401)])
    }
  } finally {
    await second[Symbol.asyncDispose]()
  }
})

test('[AUTH-02] a later replay of an assertion is refused too; two clients may use the same id', async () => {
  const jti = randomUUID()
  const other = await addKeyClient(database.db, { organizationId: 'org_b' })
  const assertion = await assertionOf(client, exchange.url, { jti })
  assert.equal((await postToken(exchange.url, withAssertion(assertion))).status, 200)
  assert.equal((await postToken(exchange.url, withAssertion(assertion))).status, 401)
  const others = await assertionOf(other, exchange.url, { jti })
  assert.equal((await postToken(exchange.url, withAssertion(others))).status, 200)
})

test('[AUTH-02] every invalid assertion gets the same response', async (t) => {
  const other = await addKeyClient(database.db)
  const disabled = await addKeyClient(database.db)
  await database.db`update oauth_client set status = 'disabled' where client_id = ${disabled.clientId}`
  const unknown = { clientId: 'client_unknown', key: client.key }
  const [, payload = ''] = (await assertionOf(client, exchange.url)).split('.')
  const withHeader = (header: object, signature: (input: string) => string) => {
    const input = `${Buffer.from(JSON.stringify(header)).toString('base64url')}.${payload}`
    return `${input}.${signature(input)}`
  }
  const [row] = await database.db`select public_jwk from oauth_client where client_id = ${client.clientId}`
  const flawed: Record<string, string> = {
    expired: await assertionOf(client, exchange.url, { iat: seconds() - 120, exp: seconds() - 60 }),
    'issued in the future': await assertionOf(client, exchange.url, {
      iat: seconds() + 90,
      exp: seconds() + 120,
    }),
    'not valid yet': await assertionOf(client, exchange.url, { nbf: seconds() + 90 }),
    'valid for too long': await assertionOf(client, exchange.url, { exp: seconds() + 3_600 }),
    'valid for too long, without iat': await assertionOf(client, exchange.url, {
      iat: undefined,
      exp: seconds() + 3_600,
    }),
    'without end': await assertionOf(client, exchange.url, { exp: undefined }),
    'without id': await assertionOf(client, exchange.url, { jti: undefined }),
    'with a long id': await assertionOf(client, exchange.url, { jti: 'j'.repeat(300) }),
    'for another audience': await assertionOf(client, 'https://elsewhere.example'),
    'for several audiences': await assertionOf(client, exchange.url, {
      aud: [exchange.url, 'https://elsewhere.example'],
    }),
    'by another issuer': await assertionOf(client, exchange.url, { iss: other.clientId }),
    'with another key': await assertionOf({ ...client, key: other.key }, exchange.url),
    'of an unknown client': await assertionOf(unknown, exchange.url),
    'of a disabled client, with another key': await assertionOf(
      { ...disabled, key: other.key },
      exchange.url,
    ),
    unsigned: withHeader({ alg: 'none' }, () => ''),
    'signed with the public key as a secret': withHeader({ alg: 'HS256' }, (input) =>
      createHmac('sha256', String(row?.['public_jwk'])).update(input).digest('base64url'),
    ),
  }
  const answers = new Set<string>()
  for (const [flaw, assertion] of Object.entries(flawed)) {
    await t.test(flaw, async () => {
      const { status, body } = await postToken(exchange.url, withAssertion(assertion))
      assert.equal(status, 401)
      answers.add(JSON.stringify(body))
    })
  }
  assert.deepEqual(
    [...answers],
    ['{"error":"invalid_client","error_description":"client authentication failed"}'],
  )
})

test('[AUTH-02] clock skew within the limit is tolerated', async () => {
  const early = await assertionOf(client, exchange.url, { iat: seconds() + 20, exp: seconds() + 80 })
  const late = await assertionOf(client, exchange.url, { iat: seconds() - 80, exp: seconds() - 20 })
  for (const assertion of [early, late]) {
    assert.equal((await postToken(exchange.url, withAssertion(assertion))).status, 200)
  }
})

test('[AUTH-02] malformed, oversized and unsupported requests get a JSON error', async (t) => {
  const requests: Record<string, [Record<string, string>, number]> = {
    'no credentials': [{}, 400],
    'a client id alone': [{ client_id: client.clientId }, 401],
    'a client secret': [{ client_id: client.clientId, client_secret: 'x' }, 401],
    'no JWT': [withAssertion('x.y.z'), 400],
    'a body of 100 KB': [{ ...withAssertion('x'.repeat(100_000)) }, 400],
    'a zero byte in the id': [{ client_id: 'a\0b' }, 401],
    'another grant': [
      {
        ...withAssertion(await assertionOf(client, exchange.url)),
        grant_type: 'authorization_code',
        code: 'x',
      },
      400,
    ],
  }
  for (const [name, [parameters, status]] of Object.entries(requests)) {
    await t.test(name, async () => {
      const answer = await postToken(exchange.url, parameters, { accept: 'text/html' })
      assert.equal(answer.status, status)
      assert.equal(typeof answer.body['error'], 'string')
    })
  }
})

test('only the token endpoint of the provider is exposed', async () => {
  const token = await fetch(`${exchange.url}/oauth/token`, { headers: { accept: 'text/html' } })
  assert.equal(token.status, 405)
  assert.equal(token.headers.get('allow'), 'POST')
  const keys = await fetch(`${exchange.url}/oauth/jwks`, { method: 'POST' })
  assert.equal(keys.status, 405)
  for (const path of [
    '/oauth/auth',
    '/auth',
    '/me',
    '/session/end',
    '/reg',
    '/device',
    '/interaction/x',
    '/token',
  ]) {
    const response = await fetch(exchange.url + path, { headers: { accept: 'text/html' } })
    // The request falls through to the protected resource, which requires a token.
    assert.equal(response.status, 401, path)
  }
})

test('[AUTH-03] disabling a client and suspending an organization take effect with the next request', async () => {
  const disabled = await addKeyClient(database.db)
  const suspended = await addKeyClient(database.db, { organizationId: 'org_b' })
  const tokens = [await tokenFor(disabled), await tokenFor(suspended)]
  for (const token of tokens) assert.equal((await callWith(exchange.url, token)).status, 200)
  await database.db`update oauth_client set status = 'disabled' where client_id = ${disabled.clientId}`
  await database.db`update organization set status = 'suspended' where organization_id = 'org_b'`
  try {
    for (const token of tokens) {
      assert.equal((await callWith(exchange.url, token)).body['code'], 'caller_suspended')
    }
    for (const [who, why] of [
      [disabled, 'the client is disabled'],
      [suspended, 'the organization is suspended'],
    ] as const) {
      const answer = await postToken(exchange.url, withAssertion(await assertionOf(who, exchange.url)))
      assert.deepEqual([answer.status, answer.body['error']], [401, 'invalid_client'])
      assert.equal(answer.body['error_description'], why)
      // Nobody but the client itself gets the reason.
      const thief = await assertionOf({ ...who, key: client.key }, exchange.url)
      const { body } = await postToken(exchange.url, withAssertion(thief))
      assert.equal(body['error_description'], 'client authentication failed')
    }
  } finally {
    await database.db`update organization set status = 'active' where organization_id = 'org_b'`
  }
})

test('[AUTH-01] tokens and keys survive a restart', async () => {
  const token = await tokenFor(client)
  const restarted = await startExchange(database.db, { publicUrl: exchange.url })
  try {
    assert.equal((await callWith(restarted.listenUrl, token)).status, 200)
  } finally {
    await restarted[Symbol.asyncDispose]()
  }
})

test('[AUTH-04][ERR-02] refusals are logged with their reason and without assertion, token or key', async () => {
  const assertion = await assertionOf(client, 'https://elsewhere.example')
  await postToken(exchange.url, withAssertion(assertion))
  const last = exchange.refusals.at(-1)
  assert.equal(last?.clientId, client.clientId)
  assert.match(last?.reason ?? '', /audience/)
  const written = JSON.stringify([exchange.refusals, exchange.errors.map(String)])
  assert.ok(!written.includes(assertion.split('.')[2] ?? ''))
  assert.ok(!written.includes('"d"'))
  assert.deepEqual(exchange.errors, [])
})
