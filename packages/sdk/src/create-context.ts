import { DEFAULT_PROFILE, type DeploymentProfile } from '@agent-exchange/protocol'
import { createConnection } from './connection/create-connection.ts'
import type { ConnectionLimits } from './connection/connection-limits.ts'
import type { Fetch } from './connection/http-transport.ts'
import type { AgentContext, Identity } from './context.ts'
import type { KeyStore } from './keys/key-store.ts'
import { createMemoryLogState, type LogStateStore } from './log/log-state.ts'
import { createPeerDirectory } from './peers/create-peer-directory.ts'
import { createMemoryPinStore } from './peers/memory-pin-store.ts'
import type { ConfirmKey, PinStore } from './peers/peer-directory.ts'

export interface ContextOptions {
  /** {base_url} of the exchange: https, or http on loopback. */
  readonly baseUrl: string
  /** Client id from the operator. */
  readonly clientId: string
  readonly identity: Identity
  readonly keys: KeyStore
  /** Defaults to memory, which makes every start a first contact. */
  readonly pins?: PinStore
  /** Keeps the last checkpoint of the log. Defaults to memory, which makes every start a first contact. */
  readonly log?: LogStateStore
  /** Called for a peer's key without an introduction. Without it, such a key is refused. */
  readonly confirmKey?: ConfirmKey
  readonly profile?: DeploymentProfile
  /** For mutual TLS: a `fetch` that presents the client certificate. */
  readonly fetch?: Fetch
  readonly now?: () => Date
  readonly authentication?: 'private_key_jwt' | 'mutual_tls'
  readonly limits?: Partial<ConnectionLimits>
}

/**
 * Creates the context of the SDK's functions. Sends nothing.
 *
 * @example
 * const context = createContext({
 *   baseUrl: 'https://exchange.example',
 *   clientId: 'client_1',
 *   identity: { organizationId: 'org_acme', agentId: 'agent_planner' },
 *   keys,
 *   pins,
 * })
 * await registerAgent(context, { implementation: 'planner', implementationVersion: '1.0.0' })
 */
export function createContext(options: ContextOptions): AgentContext {
  const { baseUrl, clientId, identity, keys, confirmKey, fetch, limits } = options
  const { profile = DEFAULT_PROFILE, pins = createMemoryPinStore(), now = () => new Date() } = options
  const { log = createMemoryLogState() } = options
  const method = options.authentication ?? 'private_key_jwt'
  const connection = createConnection({
    baseUrl,
    clientId,
    authentication: method === 'mutual_tls' ? { method } : { method, keys },
    now,
    ...(fetch && { fetch }),
    ...(limits && { limits }),
  })
  const curves = profile['O-28'].encryption_curves
  const peers = createPeerDirectory({ connection, pins, now, confirmKey, curves })
  return { identity, connection, keys, peers, log, now, profile }
}
