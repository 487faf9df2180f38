import type { PolicyEnvelope, ProtocolObject } from '@agent-exchange/protocol'
import type { AgentAddress } from '../context.ts'
import type { RespondInput, SendInput, SendOptions, SentPackage } from '../send/send-input.ts'
import type { SendWarning } from '../objects/placeholders.ts'
import type { CheckResult } from '../policy/evaluate-policy.ts'
import type { SignedDecision } from './approval.ts'

/** A package, or with `respondsTo` the response to one. A draft has no `approve` callback: a person decides at the desk. */
export type DraftInput =
  | (Omit<SendInput, 'approve'> & { readonly respondsTo?: undefined })
  | (Omit<RespondInput, 'approve'> & { readonly respondsTo: string })

/**
 * `ready`: no person is required. `waiting`: a person has to decide. `approved`, `declined`: the person decided about
 * exactly this content. `void`: there is a decision, and it does not count: by another approver, or too old.
 */
export type DraftState = 'ready' | 'waiting' | 'approved' | 'declined' | 'void'

/** A package that is not sealed yet, in the agent's folder. It never changes: another content is another draft. */
export interface StoredDraft {
  /** Made from the digest, so that an id names one content. */
  readonly draftId: string
  readonly createdAt: string
  /** SHA-256 over RFC 8785 of everything below up to `object`: what a person approves. */
  readonly digest: string
  readonly state: DraftState
  /** Whether a person must approve it before it is sent. */
  readonly approvalRequired: boolean
  readonly sender: AgentAddress
  readonly recipient: AgentAddress
  readonly packageId: string
  readonly threadId: string
  readonly respondsTo?: string
  readonly contentType: string
  readonly skill: { readonly id: string; readonly version: string }
  readonly expiresAt?: string
  readonly policy: PolicyEnvelope
  readonly object: ProtocolObject
  /** The decision as it was signed, with name and reason. They stay in the folder. */
  readonly decision?: SignedDecision
}

/** A draft with the result of the policy checks at this moment. */
export interface EvaluatedDraft {
  readonly draft: StoredDraft
  readonly passed: boolean
  /** The five checks, in the order of the specification. */
  readonly checks: readonly CheckResult[]
  /** Whether sending waits for a person: an approval is required, and there is none that counts. */
  readonly needsPerson: boolean
  /** Sentences of a template that were not replaced. They do not prevent sending. */
  readonly warnings: readonly SendWarning[]
}

/** The result of the policy checks for content that is not stored. */
export type CheckedInput = Pick<EvaluatedDraft, 'passed' | 'checks' | 'warnings'>

/** What remains of a draft after it was sent: no content. */
export interface SentDraft {
  readonly draftId: string
  readonly createdAt: string
  readonly digest: string
  readonly packageId: string
  readonly threadId: string
  readonly sentAt: string
  readonly decision?: SignedDecision
}

/** The drafts of an agent's folder. No method approves: see `approveDraft` of `@agent-exchange/sdk/node`. */
export interface Drafts {
  /**
   * Validates object and policy, resolves recipient and thread, and stores the draft. Sends nothing. The same content
   * is the same draft. Fails with `package_sent` if the package was sent already, and with `draft_sent` if from a draft.
   */
  create(input: DraftInput): Promise<StoredDraft>
  /** Evaluates the five checks for what `create` would store. Stores and sends nothing. */
  check(input: DraftInput, options?: { readonly signal?: AbortSignal }): Promise<CheckedInput>
  /** Open drafts, oldest first. {@link Drafts.damaged} names those that are left out. */
  list(): Promise<readonly StoredDraft[]>
  /** Ids of drafts whose file was changed or damaged. They can only be discarded. */
  damaged(): Promise<readonly string[]>
  /** Fails with `draft_missing`, `draft_sent`, `draft_altered` or `draft_unreadable`. */
  get(draftId: string): Promise<StoredDraft>
  /** Evaluates the five checks. A failed check is a result, not an error. */
  evaluate(draftId: string, options?: { readonly signal?: AbortSignal }): Promise<EvaluatedDraft>
  /**
   * Seals and sends exactly what is stored. If an approval is required, it must be signed by the registered approver,
   * cover the digest of what is sealed, approve it, and be recent. Otherwise nothing is sealed: `approval_waiting`,
   * `approval_declined`, `approval_invalid` or `approver_missing`. Repeating it never creates a second package.
   */
  send(draftId: string, options?: SendOptions): Promise<SentPackage>
  discard(draftId: string): Promise<void>
  /** The record of a sent draft; undefined if it was not sent, or its record was removed. */
  findSent(draftId: string): Promise<SentDraft | undefined>
  /** The last sent drafts, newest first, with who approved them. */
  sent(limit?: number): Promise<readonly SentDraft[]>
}
