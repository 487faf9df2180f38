import type { LogPolicy } from '@agent-exchange/log'
import {
  createTrust,
  DEFAULT_PROFILE,
  judgingProfile,
  type DeploymentProfile,
  type TrustOverrides,
} from '@agent-exchange/protocol'
import { createConnection } from './connection/create-connection.ts'
import type { ConnectionLimits } from './connection/connection-limits.ts'
import type { Fetch } from './connection/http-transport.ts'
import type { AgentContext, Identity } from './context.ts'
import { ExchangeError } from './errors.ts'
import type { KeyStore } from './keys/key-store.ts'
import { proveLoggedKey, type KeyClaim, type KeyProof } from './log/prove-key.ts'
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
  /** Log keys and witnesses that this agent trusts. Without it, what the log key of the first contact signed counts. */
  readonly logPolicy?: LogPolicy
  /** Called for a changed key of a peer that does not count by O-47. Without it, such a key is refused. */
  readonly confirmKey?: ConfirmKey
  readonly profile?: DeploymentProfile
  /** What this agent trusts (O-17, O-22, O-35, O-46, O-47), where it differs from the defaults. */
  readonly trust?: TrustOverrides
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
  const { baseUrl, clientId, identity, keys, confirmKey, fetch, limits, logPolicy } = options
  const { pins = createMemoryPinStore(), now = () => new Date() } = options
  const profile = profileOf(options)
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
  const peers = createPeerDirectory({
    connection,
    pins,
    now,
    confirmKey,
    curves,
    keyTrust: () => profile['O-47'],
    proveKey: (claim) => proveKey(context, claim),
  })
  const context: AgentContext = {
    identity,
    connection,
    keys,
    peers,
    log,
    now,
    profile,
    ...(logPolicy && { logPolicy }),
  }
  return context
}

function profileOf({ profile = DEFAULT_PROFILE, trust }: ContextOptions): DeploymentProfile {
  if (!trust) return profile
  const own = createTrust(trust)
  if (!own.ok)
    throw new ExchangeError('input_invalid', {
      what: 'The trust settings are invalid.',
      failures: own.failures,
    })
  return judgingProfile(profile, own.profile)
}

/** The platform vouches for the log key, so the log cannot vouch for a key of the platform. */
async function proveKey(context: AgentContext, claim: KeyClaim): Promise<KeyProof> {
  const isPlatform = claim.agentId === context.profile['O-42'].agent_id
  return isPlatform ? 'unlogged' : proveLoggedKey(context, claim)
}
