import type {
  PackageMetadata,
  PolicyEnvelope,
  ProtocolObject,
  ResponseObject,
} from '@agent-exchange/protocol'
import type { CheckResult } from '../policy/evaluate-policy.ts'
import type { PolicySettings } from '../policy/policy-check.ts'
import type { SendWarning } from '../objects/placeholders.ts'
import type { Outbox } from './outbox.ts'
import type { DataSpace } from './delivery-mode.ts'

/** An agent of an organization. */
export interface AgentAddress {
  readonly organizationId: string
  readonly agentId: string
}

/** What a person is shown who decides whether a package may leave. It holds the content: keep it on this side. */
export interface ApprovalRequest {
  readonly packageId: string
  readonly threadId: string
  readonly sender: AgentAddress
  readonly recipient: AgentAddress
  readonly policyId: string
  readonly purpose: string
  readonly checks: readonly CheckResult[]
  readonly object: ProtocolObject
  readonly requestedAt: string
}

export interface ApprovalAnswer {
  readonly approved: boolean
  /** Where the decision is on record. It goes into the policy receipt, which the exchange can read. */
  readonly approvalReference?: string
}

export type Approve = (request: ApprovalRequest) => ApprovalAnswer | Promise<ApprovalAnswer>

/** In this order; `approved` only where an approval was asked for, `published` only in ds_x. */
export type SendStep =
  | 'validated'
  | 'checked'
  | 'approved'
  | 'sealed'
  | 'receipt_accepted'
  | 'published'
  | 'accepted'

export interface SendProgress {
  readonly step: SendStep
  readonly packageId: string
}

interface SendTerms {
  readonly policy: PolicyEnvelope
  readonly skill: { readonly id: string; readonly version: string }
  /** When the exchange stops offering the content; fourteen days, or the policy's retention if that is shorter. */
  readonly expiresAt?: string
  /** Asked where the policy or the package wants a human approval. */
  readonly approve?: Approve
  /** Refuse to send under a skill release that the exchange does not know. */
  readonly requireSkillRelease?: boolean
  readonly policySettings?: PolicySettings
}

/** A response goes by {@link respondToPackage}. */
export type SendableObject = Exclude<ProtocolObject, ResponseObject>

export interface SendInput extends SendTerms {
  /** Sealed as it is. Its `created_at` is the object's own; the package has one that is not before its approval (POL-04). */
  readonly object: SendableObject
  /** Who gets it; in a thread that has a package with one of its recipients, the agent of that package. */
  readonly to?: AgentAddress
  /** For a policy_envelope, which names no thread itself; a new thread unless told. */
  readonly threadId?: string
}

export interface RespondInput extends SendTerms {
  readonly object: ResponseObject
  /** Another agent of the sender's organization (O-46), such as the one that replaced the sender; the sender by default. */
  readonly to?: AgentAddress
}

export interface SendDependencies {
  readonly outbox: Outbox
  /** Needed for threads that run over data-space connectors. */
  readonly dataSpace?: DataSpace
  /** What it throws ends the call; what is in the outbox by then stays there, and is resumed like after a crash. */
  readonly onProgress?: (progress: SendProgress) => void
  readonly signal?: AbortSignal
}

/** A package as it is about to be made, whichever operation it goes by. */
export interface Draft extends SendTerms {
  readonly packageId: string
  readonly object: ProtocolObject
  readonly to: AgentAddress
  readonly threadId: string
  readonly contentType: string
  readonly respondsTo?: string
}

export interface SentPackage {
  readonly packageId: string
  readonly threadId: string
  readonly metadata: PackageMetadata
  readonly policyReceiptId: string
  /** True where an earlier call had already handed it over, in part or as a whole. */
  readonly resumed: boolean
  /** What is worth a look although it was sent: sentences of a template that were not replaced. */
  readonly warnings: readonly SendWarning[]
}
