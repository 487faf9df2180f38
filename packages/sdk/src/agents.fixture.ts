import type { World } from '@agent-exchange/testkit'
import type { TransportMode } from '@agent-exchange/protocol'
import { registerAgent } from './agent-keys/register-agent.ts'
import { makeAgentKeys } from './agent-keys/make-keys.ts'
import type { AgentContext } from './context.ts'
import { createContext, type ContextOptions } from './create-context.ts'
import { randomId } from './connection/random-id.ts'
import { createMemoryKeyStore } from './keys/memory-key-store.ts'
import { createMemoryPinStore } from './peers/memory-pin-store.ts'
import type { PinStore } from './peers/peer-directory.ts'

export interface AgentOptions extends Partial<ContextOptions> {
  /** Leaves the agent unknown to the exchange. */
  readonly unregistered?: boolean
  readonly transportModes?: readonly TransportMode[]
  /** The operator has let organization and client in already. */
  readonly isProvisioned?: boolean
  /** The organization of another agent, instead of one of its own. */
  readonly colleagueOf?: TestAgent
}

/** An agent's context with what a test may want beside it. */
export interface TestAgent extends AgentContext {
  readonly pins: PinStore
  readonly clientId: string
  readonly options: ContextOptions
}

/** A company with one agent on a real exchange: provisioned by the operator, keys made, registered. */
export async function startAgent(world: World, name: string, options: AgentOptions = {}): Promise<TestAgent> {
  const { unregistered, transportModes = ['native', 'ds_x'], colleagueOf, isProvisioned, ...given } = options
  const identity = given.identity ?? {
    organizationId: colleagueOf?.identity.organizationId ?? randomId(`org_${name}`),
    agentId: randomId(`agent_${name}`),
  }
  const now = given.now ?? (() => new Date(world.clock.now()))
  const keys = given.keys ?? createMemoryKeyStore()
  const { client } = await makeAgentKeys(keys, { identity, now })
  const { organizationId } = identity
  if (!colleagueOf && !isProvisioned)
    await provision(world, '/organizations', { organization_id: organizationId, name })
  const clientId =
    given.clientId ??
    String(
      (await provision(world, '/clients', { organization_id: organizationId, public_jwk: client.publicJwk }))[
        'client_id'
      ],
    )
  const pins = given.pins ?? createMemoryPinStore()
  const complete: ContextOptions = { baseUrl: world.url, ...given, clientId, identity, keys, pins, now }
  const agent: TestAgent = { ...createContext(complete), pins, clientId, options: complete }
  if (!unregistered) {
    await registerAgent(agent, {
      implementation: 'sdk-test',
      implementationVersion: '1.0.0',
      skillVersions: { skill_alignment: '1.0.0' },
      transportModes,
    })
  }
  return agent
}

/**
 * Companies by name, each with one registered agent.
 *
 * @example
 * const { acme, bolt } = await startAgents(world, 'acme', 'bolt')
 */
export async function startAgents<const Name extends string>(
  world: World,
  ...names: readonly Name[]
): Promise<Readonly<Record<Name, TestAgent>>> {
  const agents = await Promise.all(names.map(async (name) => [name, await startAgent(world, name)] as const))
  return Object.fromEntries(agents) as Record<Name, TestAgent>
}

export async function provision(world: World, path: string, body: object): Promise<Record<string, unknown>> {
  const answer = await world.operate('POST', path, body)
  if (answer.status >= 300) throw new Error(`${path}: ${JSON.stringify(answer.body)}`)
  return answer.body
}
