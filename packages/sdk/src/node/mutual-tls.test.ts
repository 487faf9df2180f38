import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import {
  freePorts,
  startWorld,
  testAuthority,
  type Identity,
  type TestAuthority,
  type World,
} from '@agent-exchange/testkit'
import { provision, startAgent } from '../agents.fixture.ts'
import { certificateFault } from '../connection/certificate-fault.ts'
import { randomId } from '../connection/random-id.ts'
import { createContext } from '../create-context.ts'
import { ExchangeError } from '../errors.ts'
import { createTlsFetch, type TlsMaterial } from './mutual-tls.ts'

let authority: TestAuthority
let world: World
let baseUrl: string
const cleanup = new AsyncDisposableStack()
before(async () => {
  authority = await testAuthority()
  const { certificate, key } = await authority.server()
  const [port = 0] = await freePorts(1)
  baseUrl = `https://127.0.0.1:${port}`
  // The operator's calls go to a plain process of the same exchange.
  world = cleanup.use(await startWorld())
  const tls = { certificate, key, clientCa: authority.certificate }
  cleanup.use(await startWorld({ beside: world, config: { port, publicUrl: baseUrl, tls } }))
})
after(() => cleanup.disposeAsync())

const connections = (material: TlsMaterial) => cleanup.use(createTlsFetch(material))
const shown = ({ certificate, key }: Identity) =>
  connections({ certificate, key, ca: authority.certificate }).fetch
const code = (expected: string) => (error: unknown) => {
  assert.ok(error instanceof ExchangeError, String(error))
  assert.equal(error.code, expected, error.message)
  return true
}

test('[AUTH-02] over TLS an agent comes by private_key_jwt, with the authority it was given', async () => {
  const { fetch } = connections({ ca: authority.certificate })
  const agent = await startAgent(world, 'acme', { baseUrl, fetch })
  const { agent_id } = await agent.connection.call('getAgent', { path: { agent_id: agent.identity.agentId } })
  assert.equal(agent_id, agent.identity.agentId)
})

test('[AUTH-02] an agent comes by mutual TLS, and its token works with its certificate only', async () => {
  const identity = await authority.client('agent.acme.example')
  const organizationId = randomId('org_tls')
  await provision(world, '/organizations', { organization_id: organizationId, name: 'tls' })
  const client = await provision(world, '/clients', {
    organization_id: organizationId,
    tls_san_dns: 'agent.acme.example',
  })
  const agent = await startAgent(world, 'tls', {
    clientId: String(client['client_id']),
    identity: { organizationId, agentId: randomId('agent_tls') },
    baseUrl,
    fetch: shown(identity),
    authentication: 'mutual_tls',
    isProvisioned: true,
  })
  const path = { agent_id: agent.identity.agentId }
  assert.equal((await agent.connection.call('getAgent', { path })).organization_id, organizationId)

  const token = await agent.connection.token()
  const bare = connections({ ca: authority.certificate }).fetch
  const headers = { authorization: `Bearer ${token}`, 'x-correlation-id': 'corr_1' }
  const stolen = await bare(`${baseUrl}/v1/agents/${path.agent_id}`, { headers })
  assert.equal(stolen.status, 401)
  const problem = (await stolen.json()) as { code: string }
  assert.equal(problem.code, 'client_certificate_mismatch')

  const other = createContext({
    ...agent.options,
    fetch: shown(await authority.client('agent.other.example')),
  })
  await assert.rejects(other.connection.token(), code('token_refused'))
})

test('an exchange whose certificate nobody vouches for is not talked to', async () => {
  const agent = await startAgent(world, 'wary', {
    baseUrl,
    fetch: connections({ ca: authority.certificate }).fetch,
  })
  const { certificate: ca } = await testAuthority('Another CA')
  for (const material of [{ ca }, {}]) {
    let tried = 0
    const { fetch } = connections(material)
    const { connection } = createContext({
      ...agent.options,
      fetch: (url, init) => {
        tried += 1
        return fetch(url, init)
      },
    })
    await assert.rejects(connection.token(), (error) => {
      code('exchange_untrusted')(error)
      assert.match((error as Error).message, /not trusted here.*`--ca FILE`/u)
      return /CERT|SIGNATURE|ISSUER/.test(String((error as ExchangeError).details['reason']))
    })
    assert.equal(tried, 1, 'it is not tried again')
  }
})

test('what is wrong with a certificate is named, and other failures are not taken for one', () => {
  assert.match(certificateFault('CERT_HAS_EXPIRED') ?? '', /expired/u)
  assert.match(certificateFault('ERR_TLS_CERT_ALTNAME_INVALID') ?? '', /another name/u)
  assert.match(certificateFault('UNABLE_TO_VERIFY_LEAF_SIGNATURE') ?? '', /No authority/u)
  for (const other of ['ECONNREFUSED', 'ENOTFOUND', 'network', 'UND_ERR_SOCKET', 'EPROTO'])
    assert.equal(certificateFault(other), undefined)
})
