import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { after, before, test } from 'node:test'
import {
  dispatcherFor,
  fetchThrough,
  type Identity,
  requestToken,
  selfSignedCertificate,
  type TestAuthority,
  testAuthority,
} from '@agent-exchange/testkit'
import { decodeJwt } from 'jose'
import { certificateThumbprint } from './client-certificate.ts'
import {
  addCertificateClient,
  addKeyClient,
  addNamedClient,
  callWith,
  type Exchange,
  openSeededDatabase,
  postToken,
  startExchange,
} from './oauth-world.fixture.ts'

let database: Awaited<ReturnType<typeof openSeededDatabase>>
let authority: TestAuthority
let exchange: Exchange
type Agent = ReturnType<typeof dispatcherFor>
const agents: Agent[] = []

before(async () => {
  database = await openSeededDatabase()
  authority = await testAuthority()
  exchange = await startExchange(database.db, { authority })
})
after(async () => {
  for (const agent of agents) await agent.destroy()
  await exchange[Symbol.asyncDispose]()
  await database[Symbol.asyncDispose]()
})

function connectionsOf(identity?: Identity): Agent {
  const agent = dispatcherFor({ ca: authority.certificate, ...(identity && { identity }) })
  agents.push(agent)
  return agent
}

/** The Client-Cert header of a proxy (RFC 9440). */
const header = (each: Identity) => ({
  'client-cert': `:${new X509Certificate(each.certificate).raw.toString('base64')}:`,
})

const thumbprintOf = ({ certificate }: Identity) => certificateThumbprint(new X509Certificate(certificate))

async function call(token: string, dispatcher: Agent, url = exchange.url) {
  const headers = { authorization: `Bearer ${token}` }
  const response = await fetchThrough(dispatcher)(`${url}/v1/caller`, { headers })
  return { status: response.status, body: (await response.json()) as Record<string, unknown> }
}

test('[AUTH-02] tls_client_auth: a certificate of the CA with the registered name is accepted', async () => {
  const identity = await authority.client('agent.supplier.example')
  const dispatcher = connectionsOf(identity)
  const clientId = await addNamedClient(database.db, 'agent.supplier.example')
  const request = {
    baseUrl: exchange.url,
    clientId,
    dispatcher,
    credential: { method: 'tls_client_auth' as const },
  }
  const { access_token } = await requestToken(request)
  assert.deepEqual(decodeJwt(access_token)['cnf'], { 'x5t#S256': thumbprintOf(identity) })
  assert.equal((await call(access_token, dispatcher)).status, 200)
})

test('[AUTH-02] tls_client_auth: other names, wildcards, other authorities and no certificate are refused', async (t) => {
  const clientId = await addNamedClient(database.db, 'agent.supplier.example')
  const stranger = await testAuthority('Another CA')
  const shown: Record<string, Identity | undefined> = {
    'another name': await authority.client('agent.other.example'),
    'a wildcard': await authority.client('*.supplier.example'),
    'another authority': await stranger.client('agent.supplier.example'),
    'a self-signed one': await selfSignedCertificate('agent.supplier.example'),
    none: undefined,
  }
  for (const [name, identity] of Object.entries(shown)) {
    await t.test(name, async () => {
      const dispatcher = connectionsOf(identity)
      await assert.rejects(
        requestToken({
          baseUrl: exchange.url,
          clientId,
          dispatcher,
          credential: { method: 'tls_client_auth' },
        }),
        { error: 'invalid_client', status: 401 },
      )
    })
  }
})

test('[AUTH-02] self_signed_tls_client_auth: only the exact certificate is accepted, no other of the same name', async () => {
  const identity = await selfSignedCertificate('agent')
  const clientId = await addCertificateClient(database.db, identity)
  const credential = { method: 'self_signed_tls_client_auth' as const }
  const dispatcher = connectionsOf(identity)
  const { access_token } = await requestToken({ baseUrl: exchange.url, clientId, dispatcher, credential })
  assert.equal((await call(access_token, dispatcher)).status, 200)
  for (const other of [await selfSignedCertificate('agent'), undefined]) {
    await assert.rejects(
      requestToken({ baseUrl: exchange.url, clientId, dispatcher: connectionsOf(other), credential }),
      { error: 'invalid_client', status: 401 },
    )
  }
})

test('[AUTH-02] a bound token is always refused with another certificate or none', async () => {
  const identity = await selfSignedCertificate('agent')
  const clientId = await addCertificateClient(database.db, identity)
  const dispatcher = connectionsOf(identity)
  const credential = { method: 'self_signed_tls_client_auth' as const }
  const { access_token } = await requestToken({ baseUrl: exchange.url, clientId, dispatcher, credential })
  // The first call fills the token cache; the certificate must be checked nevertheless.
  assert.equal((await call(access_token, dispatcher)).status, 200)
  for (const thief of [await selfSignedCertificate('agent'), await authority.client('agent'), undefined]) {
    const { status, body } = await call(access_token, connectionsOf(thief))
    assert.deepEqual([status, body['code']], [401, 'client_certificate_mismatch'])
  }
  assert.equal((await call(access_token, dispatcher)).status, 200)
})

test('[AUTH-02] private_key_jwt over TLS: the token is bound to the client certificate, if any', async () => {
  const client = await addKeyClient(database.db)
  const credential = { method: 'private_key_jwt' as const, key: client.key }
  const request = { baseUrl: exchange.url, clientId: client.clientId, credential }
  const plain = await requestToken({ ...request, dispatcher: connectionsOf() })
  assert.equal(decodeJwt(plain.access_token)['cnf'], undefined)
  assert.equal((await call(plain.access_token, connectionsOf())).status, 200)

  const identity = await selfSignedCertificate('agent')
  const bound = await requestToken({ ...request, dispatcher: connectionsOf(identity) })
  assert.deepEqual(decodeJwt(bound.access_token)['cnf'], { 'x5t#S256': thumbprintOf(identity) })
  assert.equal((await call(bound.access_token, connectionsOf())).body['code'], 'client_certificate_mismatch')
})

test('[AUTH-02] a deployment may require mutual TLS (O-30)', async () => {
  const strict = await startExchange(database.db, {
    authority,
    profile: { 'O-30': { require_mutual_tls: true } },
  })
  try {
    const client = await addKeyClient(database.db)
    const credential = { method: 'private_key_jwt' as const, key: client.key }
    const request = { baseUrl: strict.url, clientId: client.clientId, credential }
    const unbound = await requestToken({ ...request, dispatcher: connectionsOf() })
    const refused = await call(unbound.access_token, connectionsOf(), strict.url)
    assert.equal(refused.body['code'], 'client_certificate_required')
    const dispatcher = connectionsOf(await selfSignedCertificate())
    const bound = await requestToken({ ...request, dispatcher })
    assert.equal((await call(bound.access_token, dispatcher, strict.url)).status, 200)
  } finally {
    await strict[Symbol.asyncDispose]()
  }
})

test('[AUTH-02] Client-Cert of a trusted proxy is used; that of any other peer is ignored', async () => {
  const publicUrl = 'https://exchange.example'
  const clientCa = authority.certificate
  const proxied = await startExchange(database.db, { publicUrl, trustedProxies: ['127.0.0.1'], clientCa })
  const open = await startExchange(database.db, { publicUrl, trustedProxies: ['192.0.2.0/24'] })
  try {
    const identity = await authority.client('agent.proxied.example')
    const clientId = await addNamedClient(database.db, 'agent.proxied.example')
    const { status, body } = await postToken(proxied.listenUrl, { client_id: clientId }, header(identity))
    assert.equal(status, 200)
    const token = body['access_token'] ?? ''
    assert.deepEqual(decodeJwt(token)['cnf'], { 'x5t#S256': thumbprintOf(identity) })
    assert.equal((await callWith(proxied.listenUrl, token, header(identity))).status, 200)
    assert.equal((await callWith(proxied.listenUrl, token)).body['code'], 'client_certificate_mismatch')

    // The same header from another peer is ignored.
    assert.equal((await postToken(open.listenUrl, { client_id: clientId }, header(identity))).status, 401)
    const spoofed = await callWith(open.listenUrl, token, header(identity))
    assert.equal(spoofed.body['code'], 'client_certificate_mismatch')

    const selfSigned = await selfSignedCertificate('agent.proxied.example')
    assert.equal(
      (await postToken(proxied.listenUrl, { client_id: clientId }, header(selfSigned))).status,
      401,
    )
    const damaged = await postToken(proxied.listenUrl, { client_id: clientId }, { 'client-cert': 'x' })
    assert.deepEqual([damaged.status, damaged.body['error']], [400, 'invalid_request'])
  } finally {
    await proxied[Symbol.asyncDispose]()
    await open[Symbol.asyncDispose]()
  }
})

test('[AUTH-02] a proxy that forwards unverified certificates lets nobody take the token of a named client', async () => {
  const name = 'agent.victim.example'
  const clientId = await addNamedClient(database.db, name)
  const thief = await (await testAuthority()).client(name)
  const trustedProxies = ['127.0.0.1']
  const publicUrl = 'https://exchange.example'
  const clientCa = authority.certificate
  await using verifying = await startExchange(database.db, { publicUrl, trustedProxies, clientCa })
  const refused = await postToken(verifying.listenUrl, { client_id: clientId }, header(thief))
  assert.deepEqual([refused.status, refused.body['error']], [401, 'invalid_client'])
  assert.equal(verifying.refusals[0]?.certificate, 'unknown_issuer')

  await using withoutCa = await startExchange(database.db, { publicUrl, trustedProxies })
  for (const identity of [thief, await authority.client(name)]) {
    assert.equal(
      (await postToken(withoutCa.listenUrl, { client_id: clientId }, header(identity))).status,
      401,
    )
  }
  const [refusal] = withoutCa.refusals
  assert.deepEqual([refusal?.clientId, refusal?.certificate], [clientId, 'no_client_ca'])
  assert.match(refusal?.hint ?? '', /AEX_TLS_CLIENT_CA/)

  // self_signed_tls_client_auth compares the whole certificate and needs no CA.
  const own = await selfSignedCertificate('agent')
  const selfSigned = await addCertificateClient(database.db, own)
  assert.equal((await postToken(withoutCa.listenUrl, { client_id: selfSigned }, header(own))).status, 200)
})

test('[AUTH-02] on a TLS listener a Client-Cert header does not replace a certificate', async () => {
  const identity = await selfSignedCertificate('agent')
  const clientId = await addCertificateClient(database.db, identity)
  const response = await fetchThrough(connectionsOf())(`${exchange.url}/oauth/token`, {
    method: 'POST',
    headers: {
      ...header(identity),
      'content-type': 'application/x-www-form-urlencoded',
    },
    body: new URLSearchParams({ grant_type: 'client_credentials', client_id: clientId }),
  })
  assert.equal(response.status, 401)
})
