import { parseKeyUri } from '@agent-exchange/pkcs11'
import { connect, type OwnKey } from '@agent-exchange/sdk'
import { keyReferences, openPostgresKeyStore } from '../stores/key-store.ts'
import type { RegisteredAgent } from './agent-registry.ts'
import { openHostedAgent, type AgentDependencies } from './open-agent.ts'

export interface ListedKey extends OwnKey {
  /** `database`, or the label of a token. */
  readonly heldIn: string
  /** What the exchange says of it; undefined for the key of a client, and while the exchange is out of reach. */
  readonly status?: string
  readonly endsAt?: string
}

/** The keys of an agent, with where each is held and what the exchange says of it. */
export async function listAgentKeys(
  deps: AgentDependencies,
  agent: RegisteredAgent,
): Promise<{ readonly keys: readonly ListedKey[]; readonly isAsked: boolean }> {
  const { agentId } = agent
  const hosted = await openHostedAgent(deps, agent)
  const { keys, connection } = hosted.agent.context
  const references = await keyReferences(deps.db, agentId)
  const registered = await connection.call('getAgentKeys', { path: { agent_id: agentId } }).then(
    (directory) => new Map(directory.keys.map((key) => [key.key_id, key])),
    () => undefined,
  )
  const listed = (await keys.list()).map((key): ListedKey => {
    const known = registered?.get(key.keyId)
    return {
      ...key,
      heldIn: placeOf(references.get(key.keyId)),
      ...(known && { status: known.status }),
      ...(known?.valid_until !== undefined && { endsAt: known.valid_until }),
    }
  })
  return { keys: listed, isAsked: registered !== undefined }
}

function placeOf(reference: string | undefined): string {
  if (reference === undefined) return 'database'
  return `token ${parseKeyUri(reference)?.token ?? 'unknown'}`
}

/**
 * The client key that replaces the current one as soon as the operator of the exchange has registered it. Called again,
 * it returns the same key.
 */
export async function makeNextClientKey(deps: AgentDependencies, agent: RegisteredAgent): Promise<OwnKey> {
  const keys = keysOf(deps, agent)
  const { current, next } = await clientKeys(keys)
  if (next) return next
  return keys.generate({
    role: 'client',
    stage: 'next',
    createdAt: deps.now().toISOString(),
    ...(current && { replaces: current.keyId }),
  })
}

/**
 * Uses the next client key, if the exchange accepts it. Running instances use it for their next access token. Undefined
 * if there is none.
 */
export async function useNextClientKey(
  deps: AgentDependencies,
  agent: RegisteredAgent,
): Promise<OwnKey | undefined> {
  const { agentId, organizationId, baseUrl, clientId } = agent
  const keys = keysOf(deps, agent)
  const { current, next } = await clientKeys(keys)
  if (!next) return undefined
  await connect({
    baseUrl,
    clientId,
    identity: { organizationId, agentId },
    keys: {
      ...keys,
      list: async () =>
        (await keys.list())
          .filter(({ keyId }) => keyId !== current?.keyId)
          .map((key) => (key.keyId === next.keyId ? { ...key, stage: 'current' as const } : key)),
    },
    now: deps.now,
    ...(deps.fetch && { fetch: deps.fetch }),
  })
  await keys.setStages({ ...(current && { [current.keyId]: 'previous' as const }), [next.keyId]: 'current' })
  return { ...next, stage: 'current' }
}

const keysOf = ({ db, box, keyProvider }: AgentDependencies, { agentId }: RegisteredAgent) =>
  openPostgresKeyStore(db, agentId, { box, ...(keyProvider && { provider: keyProvider }) })

async function clientKeys(keys: Pick<ReturnType<typeof keysOf>, 'list'>) {
  const ofClient = (await keys.list()).filter(({ role }) => role === 'client')
  const at = (stage: OwnKey['stage']) => ofClient.find((key) => key.stage === stage)
  return { current: at('current'), next: at('next') }
}
