import type { LogPolicy } from '@agent-exchange/log'
import {
  createTrust,
  DEFAULT_PROFILE,
  judgingProfile,
  type DeploymentProfile,
  type TrustChoices,
  type TrustOverrides,
} from '@agent-exchange/protocol'
import type { Connection } from './connection/connection.ts'
import { createConnection } from './connection/create-connection.ts'
import type { ConnectionLimits } from './connection/connection-limits.ts'
import type { Fetch } from './connection/http-transport.ts'
import type { AgentContext, Identity } from './context.ts'
import {
  createMemoryDeployment,
  type Deployment,
  type DeploymentChange,
  type DeploymentStore,
} from './deployment/deployment.ts'
import { fixedDeployment, followDeployment } from './deployment/follow-deployment.ts'
import { ExchangeError } from './errors.ts'
import type { KeyStore } from './keys/key-store.ts'
import { proveLoggedKey } from './log/prove-key.ts'
import { createMemoryLogState, type LogStateStore } from './log-state.ts'
import { createPeerDirectory } from './peers/create-peer-directory.ts'
import type { KeyClaim, KeyProof } from './peers/key-proof.ts'
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
  /** Judges by this profile, whatever the exchange publishes. Without it, the published one is followed. */
  readonly profile?: DeploymentProfile
  /** Keeps what the exchange publishes about its behaviour. Defaults to memory. */
  readonly deployment?: DeploymentStore
  /** Called when the exchange changed how it decides an open point. */
  readonly onDeploymentChange?: (change: DeploymentChange) => void
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
 * const skillVersions = { skill_alignment: '1.0.0' }
 * await registerAgent(context, { implementation: 'planner', implementationVersion: '1.0.0', skillVersions })
 */
export function createContext(options: ContextOptions): AgentContext {
  const { baseUrl, clientId, identity, keys, confirmKey, fetch, limits, logPolicy } = options
  const { pins = createMemoryPinStore(), now = () => new Date() } = options
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
  const deployment = deploymentOf(options, connection, now)
  const peers = createPeerDirectory({
    connection,
    pins,
    now,
    confirmKey,
    curves: () => deployment.profile['O-28'].encryption_curves,
    keyTrust: () => deployment.profile['O-47'],
    proveKey: (claim) => proveKey(context, claim),
  })
  const context: AgentContext = {
    identity,
    connection,
    keys,
    peers,
    log,
    now,
    deployment,
    ...(logPolicy && { logPolicy }),
  }
  return context
}

function deploymentOf(options: ContextOptions, connection: Connection, now: () => Date): Deployment {
  const {
    profile,
    trust,
    deployment: store = createMemoryDeployment(),
    onDeploymentChange: onChange,
  } = options
  const own = trust ? trustOf(trust) : (profile ?? DEFAULT_PROFILE)
  return profile
    ? fixedDeployment(judgingProfile(profile, own))
    : followDeployment({ connection, store, trust: own, now, onChange })
}

function trustOf(overrides: TrustOverrides): TrustChoices {
  const own = createTrust(overrides)
  if (own.ok) return own.profile
  const what = 'The trust settings are invalid.'
  throw new ExchangeError('input_invalid', { what, failures: own.failures })
}

/** The platform vouches for the log key, so the log cannot vouch for a key of the platform. */
async function proveKey(context: AgentContext, claim: KeyClaim): Promise<KeyProof> {
  const isPlatform = claim.agentId === context.deployment.profile['O-42'].agent_id
  return isPlatform ? 'unlogged' : proveLoggedKey(context, claim)
}
