import { mkdtempSync } from 'node:fs'
import { join } from 'node:path'
import { getCACertificates, setDefaultCACertificates } from 'node:tls'
import { createTlsFetch } from '@agent-exchange/sdk/node'
import {
  freePorts,
  runningClock,
  startWorld,
  testAuthority,
  type MovableClock,
  type TestAuthority,
  type World,
} from '@agent-exchange/testkit'
import { registerAgent } from '../../packages/sdk/src/agent-keys/register-agent.ts'
import { startAgent, type TestAgent } from '../../packages/sdk/src/agents.fixture.ts'
import { addSigningKey, adminOf, exampleRealm, withClientKey, type Admin } from './keycloak-admin.ts'
import { startKeycloak, type Keycloak } from './keycloak-server.ts'

export const REALM = 'exchange'
/** Same keys of clients, other signing keys. */
export const FOREIGN_REALM = 'foreign'
const REGISTRATION = {
  implementation: 'keycloak-trial',
  implementationVersion: '1.0.0',
  skillVersions: { skill_alignment: '1.0.0' },
  transportModes: ['native'],
} as const

/** An exchange whose tokens come from a real Keycloak, and two companies that are registered there. */
export interface KeycloakWorld extends AsyncDisposable {
  readonly keycloak: Keycloak
  readonly admin: Admin
  readonly world: World
  readonly authority: TestAuthority
  /** private_key_jwt. */
  readonly acme: TestAgent
  /** A client certificate, and tokens that are bound to it. */
  readonly bolt: TestAgent
  /** `fetch` with a certificate of the same authority for this name. */
  fetchAs(name: string): Promise<typeof globalThis.fetch>
}

/** A wrong time of day does not change how fast time passes, unlike a move of the clock of other tests. */
function skewedClock(): MovableClock {
  return { ...runningClock(), monotonicMilliseconds: () => performance.now() }
}

export async function startKeycloakWorld(home: string, folder: string): Promise<KeycloakWorld> {
  await using undo = new AsyncDisposableStack()
  const authority = await testAuthority()
  // What NODE_EXTRA_CA_CERTS does for a whole process: exchange and agents trust the authority of Keycloak.
  setDefaultCACertificates([...getCACertificates('default'), authority.certificate])
  const [port = 0] = await freePorts(1)
  const identity = await authority.server()
  const keycloak = undo.use(
    await startKeycloak(home, {
      folder: mkdtempSync(join(folder, 'keycloak-')),
      port,
      identity,
      clientCa: authority.certificate,
    }),
  )
  const issuer = `${keycloak.url}/realms/${REALM}`
  const tls = { ...identity, clientCa: authority.certificate }
  const world = undo.use(await startWorld({ clock: skewedClock(), config: { issuer, tls } }))
  const connections = undo.use(new AsyncDisposableStack())
  const fetchAs = async (name: string) => {
    const own = createTlsFetch({ ...(await authority.client(name)), ca: authority.certificate })
    return connections.use(own).fetch as typeof globalThis.fetch
  }
  const acme = await startAgent(world, 'acme', {
    clientId: 'acme-planner',
    identity: { organizationId: 'org_acme', agentId: 'agent_acme_planner' },
    unregistered: true,
  })
  const bolt = await startAgent(world, 'bolt', {
    clientId: 'bolt-planner',
    identity: { organizationId: 'org_bolt', agentId: 'agent_bolt_planner' },
    fetch: await fetchAs('agent.bolt.example'),
    authentication: 'mutual_tls',
    unregistered: true,
  })
  const admin = adminOf(keycloak.url)
  const key = (await acme.options.keys.list()).find(({ role }) => role === 'client')
  const realm = withClientKey(exampleRealm(world.url), acme.clientId, key?.publicJwk ?? {})
  await admin('POST', '', realm)
  await admin('POST', '', { ...realm, realm: FOREIGN_REALM })
  await addSigningKey(admin, FOREIGN_REALM)
  for (const agent of [acme, bolt]) await registerAgent(agent, REGISTRATION)
  const cleanup = undo.move()
  return {
    keycloak,
    admin,
    world,
    authority,
    acme,
    bolt,
    fetchAs,
    [Symbol.asyncDispose]: () => cleanup.disposeAsync(),
  }
}
