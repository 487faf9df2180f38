import { PROTOCOL_VERSION, type AgentResource, type TransportMode } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { currentKey } from './make-keys.ts'
import { keyRequest } from './key-request.ts'

export interface Registration {
  /** Name and version of the agent's software; shown in the directory. */
  readonly implementation: string
  readonly implementationVersion: string
  /** Defaults to the only protocol version. */
  readonly protocolVersions?: readonly string[]
  /** The skills that it understands, by id. Others cannot send it a package of a skill that is missing here. */
  readonly skillVersions?: Readonly<Record<string, string>>
  /** Defaults to native. */
  readonly transportModes?: readonly TransportMode[]
  readonly signal?: AbortSignal
}

/**
 * Registers the agent with its current public keys, or updates its registration.
 *
 * @example
 * const skillVersions = { skill_alignment: '1.0.0' }
 * await registerAgent(context, { implementation: 'planner', implementationVersion: '1.4.0', skillVersions })
 */
export async function registerAgent(
  { identity, connection, keys }: AgentContext,
  registration: Registration,
): Promise<AgentResource> {
  const { protocolVersions = [PROTOCOL_VERSION], transportModes = ['native'], signal } = registration
  const [signing, encryption] = [await currentKey(keys, 'signing'), await currentKey(keys, 'encryption')]
  return connection.call('registerAgent', {
    body: {
      organization_id: identity.organizationId,
      agent_id: identity.agentId,
      implementation: registration.implementation,
      implementation_version: registration.implementationVersion,
      protocol_versions: [...protocolVersions],
      skill_versions: { ...registration.skillVersions },
      transport_modes: [...transportModes],
      keys: [keyRequest(signing, 'signing'), keyRequest(encryption, 'encryption')],
    },
    ...(signal && { signal }),
  })
}
