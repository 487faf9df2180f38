import type { PackageMetadata, PackageState, PolicyEnvelope } from '@agent-exchange/protocol'
import type { AddressBook } from '@agent-exchange/log'
import type { Agent, Drafts } from '@agent-exchange/sdk'
import type { ShownPackage } from './content/opened-package.ts'

/** An event of the inbox, without content. */
export interface WaitingEvent {
  readonly event_id: string
  readonly sequence: number
  readonly event_type: string
  readonly occurred_at: string
  readonly package_id: string
  readonly thread_id: string
  readonly state: PackageState
}

export interface KnownThread {
  readonly thread_id: string
  /** Packages of which the agent knows. */
  readonly packages: number
  readonly last_event_at: string
  readonly last_package_id: string
}

export interface ReadOptions {
  readonly signal: AbortSignal
  readonly onProgress?: (step: string) => void
}

/** The agent behind the tools: one in a folder, or one that a gateway runs. */
export interface McpAgent extends Pick<
  Agent,
  'identity' | 'context' | 'fingerprint' | 'thread' | 'revoke' | 'capsule'
> {
  readonly drafts: Pick<
    Drafts,
    'create' | 'get' | 'list' | 'damaged' | 'evaluate' | 'findSent' | 'send' | 'discard'
  >
  /** The policies that a person wrote. The model chooses among them and cannot change them. */
  policies(): Promise<readonly PolicyEnvelope[]>
  /** Fetches new events, and returns those that are not handled yet, oldest first. */
  waitingEvents(
    limit: number,
  ): Promise<{ readonly events: readonly WaitingEvent[]; readonly waiting: number }>
  /** False if no such event was waiting. */
  finishEvent(eventId: string): Promise<boolean>
  /** Metadata of a package that this agent may answer. */
  answerable(packageId: string, options: Pick<ReadOptions, 'signal'>): Promise<PackageMetadata>
  /** The latest first. */
  threads(limit: number): Promise<readonly KnownThread[]>
  /** The verified content of a package, for the model that asked for it. */
  read(packageId: string, options: ReadOptions): Promise<ShownPackage>
  /** The page where a person decides about a draft, if one is running. */
  deskPage(draftId: string): Promise<string | undefined>
  addressBook(): Promise<AddressBook>
}
