import type {
  PackageMetadata,
  PolicyEnvelope,
  ProtocolObject,
  ResponseObject,
} from '@agent-exchange/protocol'
import type { AgentAddress } from '../context.ts'
import type { CheckResult } from '../policy/evaluate-policy.ts'
import type { PolicySettings } from '../policy/policy-check.ts'
import type { SendWarning } from '../objects/placeholders.ts'
import type { Outbox } from '../outbox/outbox.ts'
import type { DataSpace } from '../data-space/data-space.ts'

/** What a person sees who approves a package. Contains plaintext: do not send it anywhere. */
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
  /** Reference to the recorded decision. It goes into the policy receipt, which the exchange can read. */
  readonly approvalReference?: string
  /** When the person decided. Defaults to now. */
  readonly approvedAt?: string
}

export type Approve = (request: ApprovalRequest) => ApprovalAnswer | Promise<ApprovalAnswer>

/** Steps in order; `approved` only if an approval was required, `published` only in ds_x. */
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
  /** When the content expires. Defaults to fourteen days, or to the policy's retention if shorter. */
  readonly expiresAt?: string
  /** Called if the policy or the package requires a human approval. */
  readonly approve?: Approve
  /** Requires a human approval, whatever policy and package say. */
  readonly requireApproval?: boolean
  /** Refuse to send under a skill release that the exchange does not know. */
  readonly requireSkillRelease?: boolean
  readonly policySettings?: PolicySettings
}

/** Every object but a response, which {@link respondToPackage} sends. */
export type SendableObject = Exclude<ProtocolObject, ResponseObject>

export interface SendInput extends SendTerms {
  /** Sealed unchanged, with its own `created_at`. The package's `created_at` is not before its approval (POL-04). */
  readonly object: SendableObject
  /** The recipient. Defaults to the recipient's agent in the latest package of the thread. */
  readonly to?: AgentAddress
  /** For a policy_envelope, which names no thread. Defaults to a new thread. */
  readonly threadId?: string
}

export interface RespondInput extends SendTerms {
  readonly object: ResponseObject
  /** Id of the object inside the answered package, if the caller has opened it. */
  readonly answeredObjectId?: string
  /** Another agent of the sender's organization (O-46). Defaults to the sender. */
  readonly to?: AgentAddress
}

export interface SendDependencies {
  readonly outbox: Outbox
  /** Required for ds_x threads. */
  readonly dataSpace?: DataSpace
  /** An exception from it ends the call. A package that is already in the outbox stays there, as after a crash. */
  readonly onProgress?: (progress: SendProgress) => void
  readonly signal?: AbortSignal
}

/** Options of a call beside its input. */
export type SendOptions = Pick<SendDependencies, 'onProgress' | 'signal'>

/** A package or response before sealing. */
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
  /** True if an earlier call started or completed the send. */
  readonly resumed: boolean
  /** Template sentences that were not replaced, and a transparency log that could not be checked. */
  readonly warnings: readonly SendWarning[]
}
