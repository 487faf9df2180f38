import {
  CryptoError,
  signDetached,
  verifyDetached,
  type PrivateKey,
  type PublicKey,
} from '@agent-exchange/crypto'
import { shapeValidator, type Shape } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import { randomId } from '../connection/random-id.ts'
import { ExchangeError } from '../errors.ts'
import { APPROVAL_CLOCK_SKEW_MS, MAXIMUM_NAME_CHARACTERS, MAXIMUM_REASON_CHARACTERS } from './draft-limits.ts'

const FORMAT = 'aex-approval/1'
const MEMBER = 'signature'

export type Decision = 'approved' | 'declined'

const text = (maxLength: number) => Type.String({ minLength: 1, maxLength })
const CLOSED = { additionalProperties: false }

/** A person's decision about a draft, signed with the approver's key. Stays in the agent's folder. */
export const signedDecisionShape = Type.Object(
  {
    format: Type.Literal(FORMAT),
    /** Random, so that the policy receipt reveals nothing about the person or the draft. */
    approval_reference: text(100),
    draft_id: text(100),
    draft_digest: text(100),
    decision: Type.Enum(['approved', 'declined']),
    decided_at: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' }),
    name: text(MAXIMUM_NAME_CHARACTERS),
    reason: text(MAXIMUM_REASON_CHARACTERS),
    signature: Type.Object(
      { key_id: text(200), algorithm: Type.Literal('ES256'), signature: text(100) },
      CLOSED,
    ),
  },
  CLOSED,
)
export type SignedDecision = Shape<typeof signedDecisionShape>
const signedDecision = shapeValidator(signedDecisionShape, 'SDK')

export interface DecisionInput {
  readonly draftId: string
  readonly draftDigest: string
  readonly decision: Decision
  readonly decidedAt: string
  readonly name: string
  readonly reason: string
}

/** The signature covers every member: draft, digest, decision, time, name and reason. */
export async function signDecision(
  input: DecisionInput,
  approver: { readonly key: PrivateKey; readonly keyId: string },
  approvalReference = randomId('approval'),
): Promise<SignedDecision> {
  const statement = {
    format: FORMAT,
    approval_reference: approvalReference,
    draft_id: input.draftId,
    draft_digest: input.draftDigest,
    decision: input.decision,
    decided_at: input.decidedAt,
    name: input.name,
    reason: input.reason,
  } as const
  const signed = { ...statement, signature: await signDetached(statement, { ...approver, member: MEMBER }) }
  if (signedDecision.accepts(signed)) return signed
  throw new ExchangeError('input_invalid', {
    what: `Give a name of at most ${MAXIMUM_NAME_CHARACTERS} and a reason of at most ${MAXIMUM_REASON_CHARACTERS} characters.`,
  })
}

/** The registered approver: only a signature of this key counts. */
export interface RegisteredApprover {
  readonly keyId: string
  readonly publicKey: PublicKey
}

/** Which drafts a person must approve: those whose policy requires it, or every one. */
export type ApprovalScope = 'policy' | 'every_draft'

export interface Approver extends RegisteredApprover {
  readonly createdAt: string
  readonly approves: ApprovalScope
}

export interface DecisionCheck {
  readonly draftId: string
  /** Recomputed from what will be sealed. */
  readonly draftDigest: string
  readonly decision: SignedDecision | undefined
  readonly approver: RegisteredApprover | undefined
  readonly now: Date
  readonly maximumAgeMs: number
}

/** Whether this approver signed the decision as it is. */
export async function isSignedBy(decision: SignedDecision, approver: RegisteredApprover): Promise<boolean> {
  if (decision.signature.key_id !== approver.keyId) return false
  try {
    await verifyDetached(decision, { member: MEMBER, publicKey: approver.publicKey })
    return true
  } catch (error) {
    if (error instanceof CryptoError) return false
    throw error
  }
}

/**
 * Demands a valid approval of exactly this draft. Each step has its own error code or reason; the order is: an
 * approver, a decision, its signature, its subject, its outcome, its age.
 */
export async function requireApproval(check: DecisionCheck): Promise<SignedDecision> {
  const { draftId, draftDigest, decision, approver, now, maximumAgeMs } = check
  if (!approver) throw new ExchangeError('approver_missing', { details: { draftId } })
  if (!decision) throw new ExchangeError('approval_waiting', { details: { draftId } })
  const invalid = (reason: string) => new ExchangeError('approval_invalid', { details: { draftId, reason } })
  if (!(await isSignedBy(decision, approver))) throw invalid('signature')
  if (decision.draft_id !== draftId) throw invalid('other_draft')
  if (decision.draft_digest !== draftDigest) throw invalid('draft_changed')
  if (decision.decision !== 'approved') throw new ExchangeError('approval_declined', { details: { draftId } })
  const age = now.getTime() - Date.parse(decision.decided_at)
  if (!(age >= -APPROVAL_CLOCK_SKEW_MS)) throw invalid('in_the_future')
  if (age > maximumAgeMs) throw invalid('too_old')
  return decision
}
