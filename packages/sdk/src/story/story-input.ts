import type { AgentAddress } from '../context.ts'

/** What an agent has of a thread: the records of the exchange, and the objects that it could open. */
export interface ThreadObjects {
  readonly threadId: string
  /** The organization that reads the story. */
  readonly reader: string
  /** Organizations that the exchange names as participants. */
  readonly participants?: readonly string[]
  /** In the order in which the exchange accepted them. */
  readonly packages: readonly ThreadPackage[]
  /** Older packages of the thread that were left out. */
  readonly olderPackages?: number
  /** Whether the thread has newer packages, beyond the pages that were read. */
  readonly hasNewerPackages?: boolean
}

export interface ThreadPackage {
  readonly packageId: string
  /** State at the exchange. What a revoked package says does not count. */
  readonly state: string
  readonly sentBy: AgentAddress
  readonly sentTo: AgentAddress
  readonly sentAt: string
  /** When the exchange deletes the content. */
  readonly expiresAt?: string
  readonly respondsTo?: string
  readonly content: PackageContent
}

/** The object as it was opened, not validated; or why there is none. */
export type PackageContent =
  | { readonly object: unknown }
  | { readonly missing: 'unopened' | 'for_colleague' }
  | { readonly missing: 'cannot_open'; readonly code: string }
