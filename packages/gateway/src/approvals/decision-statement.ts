import { createHash, randomBytes } from 'node:crypto'
import { canonicalize } from '@agent-exchange/crypto'
import { shapeValidator, type Shape } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import { digestOf, type DraftFacts, type EffectiveRules } from './effective-rules.ts'

const TAG = 'aex-draft-decision/1'
const NONCE_BYTES = 32

const word = Type.String({ minLength: 1, maxLength: 512 })
const CLOSED = { additionalProperties: false }
const shape = Type.Object(
  {
    tag: Type.Literal(TAG),
    nonce: word,
    draft_digest: word,
    recipient: Type.Object({ organization_id: word, agent_id: word }, CLOSED),
    policy_digest: word,
    rule_digest: word,
    approver: word,
    /** The person who let the approver decide. */
    on_behalf_of: Type.Optional(word),
    decision: Type.Enum(['approved', 'declined']),
    time: Type.String({ pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{3}Z$' }),
  },
  CLOSED,
)

/** What a passkey signs: SHA-256 over RFC 8785 of it is the challenge. */
export type DecisionStatement = Shape<typeof shape>
const statementShape = shapeValidator(shape, 'gateway')

export function newStatement(
  facts: DraftFacts,
  rules: EffectiveRules,
  by: Pick<DecisionStatement, 'approver' | 'on_behalf_of' | 'decision'> & { readonly now: Date },
): DecisionStatement {
  const { approver, on_behalf_of, decision, now } = by
  return {
    tag: TAG,
    nonce: randomBytes(NONCE_BYTES).toString('base64url'),
    draft_digest: facts.digest,
    recipient: facts.recipient,
    policy_digest: digestOf(facts.policy),
    rule_digest: rules.digest,
    approver,
    ...(on_behalf_of !== undefined && { on_behalf_of }),
    decision,
    time: now.toISOString(),
  }
}

export function challengeOfStatement(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

/** Undefined if the text is not a statement in canonical form. */
export function parseStatement(text: string): DecisionStatement | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return statementShape.accepts(value) && canonicalize(value) === text ? value : undefined
  } catch {
    return undefined
  }
}

export type SubjectFault = 'draft_changed' | 'recipient_changed' | 'policy_changed' | 'rule_changed'

/** Whether the statement is about this draft under these rules. */
export function subjectFault(
  statement: DecisionStatement,
  facts: DraftFacts,
  rules: EffectiveRules,
): SubjectFault | undefined {
  if (statement.draft_digest !== facts.digest) return 'draft_changed'
  if (canonicalize(statement.recipient) !== canonicalize(facts.recipient)) return 'recipient_changed'
  if (statement.policy_digest !== digestOf(facts.policy)) return 'policy_changed'
  if (statement.rule_digest !== rules.digest) return 'rule_changed'
  return undefined
}
