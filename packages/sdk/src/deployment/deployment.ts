import type { DeploymentProfile, ProfileChange } from '@agent-exchange/protocol'

/** How the exchange behaves, by what it publishes, and what this agent trusts, by its own settings. */
export interface Deployment {
  /** By which to judge. The defaults until something is known of the exchange. */
  readonly profile: DeploymentProfile
  /** Reads what the exchange publishes if the known profile is old. An exchange out of reach changes nothing. */
  refresh(): Promise<void>
}

/** What the exchange published last. */
export interface KnownDeployment {
  /** The published profile, as it was sent. */
  readonly published: Readonly<Record<string, unknown>>
  readonly checkedAt: string
  /** The last change that this agent noticed. */
  readonly changed?: DeploymentChange
}

export interface DeploymentChange {
  readonly noticedAt: string
  /** Settings of O-17, O-22, O-35, O-46 and O-47 among them change nothing for this agent. */
  readonly changes: readonly ProfileChange[]
}

/** Keeps the published profile between two runs. */
export interface DeploymentStore {
  read(): Promise<KnownDeployment | undefined>
  write(known: KnownDeployment): Promise<void>
}

/** Forgets with the process. */
export function createMemoryDeployment(): DeploymentStore {
  let known: KnownDeployment | undefined
  return {
    read: () => Promise.resolve(known),
    write(next) {
      known = next
      return Promise.resolve()
    },
  }
}
