import type { LogPolicy } from '@agent-exchange/log'
import type { Connection } from './connection/connection.ts'
import type { Deployment } from './deployment/deployment.ts'
import type { KeyStore } from './keys/key-store.ts'
import type { LogStateStore } from './log-state.ts'
import type { PeerDirectory } from './peers/peer-directory.ts'

/** An agent of an organization. */
export interface AgentAddress {
  readonly organizationId: string
  readonly agentId: string
}

/** Who the agent is. */
export type Identity = AgentAddress

/** The first argument of every function of the SDK. {@link connect} binds it to an agent. */
export interface AgentContext {
  readonly identity: Identity
  readonly connection: Connection
  readonly keys: KeyStore
  readonly peers: PeerDirectory
  /** What the agent remembers of the transparency log. */
  readonly log: LogStateStore
  /** Log keys and witnesses that this agent trusts; where it names witnesses, only what they saw is proved. */
  readonly logPolicy?: LogPolicy
  /** The clock; tests replace it. */
  readonly now: () => Date
  /** Open points as this exchange decides them, and trust as this agent does. */
  readonly deployment: Deployment
}
