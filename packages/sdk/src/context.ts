import type { DeploymentProfile } from '@agent-exchange/protocol'
import type { Connection } from './connection/connection.ts'
import type { KeyStore } from './keys/key-store.ts'
import type { PeerDirectory } from './peers/peer-directory.ts'

/** Who the agent is. */
export interface Identity {
  readonly organizationId: string
  readonly agentId: string
}

/** What every part of the SDK works with. Each function takes it first; {@link connect} binds it to an agent. */
export interface AgentContext {
  readonly identity: Identity
  readonly connection: Connection
  readonly keys: KeyStore
  readonly peers: PeerDirectory
  /** Time, so that tests can move it. */
  readonly now: () => Date
  /** The open points as this exchange decides them; the defaults unless told. */
  readonly profile: DeploymentProfile
}
