import type { AddressBook, LogPolicy } from '@agent-exchange/log'
import type {
  DeploymentProfile,
  NotificationEnvelope,
  PackageResource,
  PolicyEnvelope,
  ProtocolObject,
} from '@agent-exchange/protocol'
import type {
  Agent,
  AgentAddress,
  CollectedCapsule,
  Decision,
  Drafts,
  EvidenceSubject,
  Identity,
  OpenedPackage,
  RevokeInput,
  StoredDraft,
} from '@agent-exchange/sdk'
import type { PasskeyDecisions } from './passkey-decisions.ts'

export type DeskPlace = 'folder' | 'gateway'

export interface ReceivedDeadline {
  readonly packageId: string
  readonly threadId: string
  readonly dueAt: string
}

/** What the pages need of an agent, wherever it keeps its data. */
export interface DeskAgent {
  /** Where the agent keeps its data. Pages say what a person can do there. */
  readonly place: DeskPlace
  readonly identity: Identity
  /** Keys of logs and witnesses that evidence is compared with. Without it nothing is proven. */
  readonly logPolicy?: LogPolicy
  readonly profile: DeploymentProfile
  /** Names that the reader gave to organizations. */
  names(): Promise<AddressBook>
  /** The policy under which people write to this organization, if there is one. A gateway takes the newest that allows it. */
  defaultPolicy(organizationId?: string): Promise<PolicyEnvelope | undefined>
  /** The skill under which people begin conversations: the default, else the one that the agent was registered with. */
  defaultSkill(): Promise<{ readonly id: string; readonly version: string } | undefined>

  /** Reads new events and leaves them for the agent. Returns why that failed. */
  fetchEvents(): Promise<string | undefined>
  /** Changes whenever the pages would show something else. */
  summary(): Promise<object>
  waiting(now: Date): Promise<WaitingWork>
  /**
   * Received packages whose required answer this organization has not given, the earliest deadline first. Undefined
   * where only the stories of threads say so.
   */
  openDeadlines?(): Promise<readonly ReceivedDeadline[]>
  /** Newest first, at most `limit`: defaults to what the first page shows. */
  threads(limit?: number): Promise<readonly ThreadSummary[]>
  isKnownThread(threadId: string): Promise<boolean>
  thread: Agent['thread']
  package(packageId: string, signal?: AbortSignal): Promise<PackageResource>

  /** The object of a package that was opened or sent before. A gateway notes who read it. */
  read(packageId: string): Promise<Pick<OpenedPackage, 'object'>>
  /** The same with what is known of it. A gateway answers from its own copy after the exchange deleted the content. */
  readInFull(packageId: string): Promise<ReadPackage>
  /** Opens a received package, and sends the signed receipts. */
  open(packageId: string): Promise<OpenedPackage>
  revoke(packageId: string, input: RevokeInput): Promise<unknown>
  /** Without waiting for the log. With `disclose`, whoever gets the capsule can read the content of these packages. */
  evidence(
    subject: EvidenceSubject,
    options?: { readonly disclose?: readonly string[] },
  ): Promise<CollectedCapsule>

  readonly drafts: Drafts
  /** Records the decision of a person about the draft with this digest. Fails with `approver_locked`. */
  decide(decision: DraftDecision): Promise<void>
  /** Where people decide with passkeys; `decide` is not used then. */
  readonly passkeys?: PasskeyDecisions
}

/** A package that was opened or sent before. */
export interface ReadPackage {
  readonly object: ProtocolObject
  readonly resource: PackageResource
  /** The key that verified the signature. Unknown of own packages whose content the exchange has deleted. */
  readonly signedByKey?: string
  /** Who wrote the object, as the object itself says. */
  readonly writtenBy?: AgentAddress
  /** What the policy receipt says. Unknown after the exchange has deleted the content. */
  readonly approval?: { readonly required: boolean; readonly outcome?: string }
  /** When the host deletes its copy. */
  readonly keptUntil?: string
  /** What the sender permits language models, if its policy was received. */
  readonly modelUse?: PolicyEnvelope['model_use']
}

export function readPackageOf(opened: OpenedPackage): ReadPackage {
  const { object, resource, senderKey, writtenBy, policyReceipt } = opened
  const { required, outcome } = policyReceipt.receipt.human_approval
  return {
    object,
    resource,
    signedByKey: senderKey.keyId,
    writtenBy,
    approval: { required, ...(outcome !== undefined && { outcome }) },
  }
}

export interface DraftDecision {
  readonly draftId: string
  readonly digest: string
  readonly decision: Decision
  readonly name: string
  readonly reason: string
  readonly passphrase: string
  readonly now: Date
}

export interface WaitingWork {
  /** Drafts that a person has to decide about. */
  readonly drafts: readonly StoredDraft[]
  /** Sealed packages that the exchange has not accepted yet. */
  readonly sealed: number
  /** Events that failed too often. */
  readonly setAside: number
  /** Keys in use that end soon, or that the directory of the exchange shows as revoked. */
  readonly endingKeys: readonly { readonly keyId: string; readonly role: string; readonly endsAt: string }[]
}

export interface ThreadSummary {
  readonly threadId: string
  readonly packages: number
  readonly last: NotificationEnvelope
  /** Events that no handler of the agent has processed. */
  readonly pending: number
}
