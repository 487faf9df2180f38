import type { Queries } from '@agent-exchange/database'
import type { DraftDecision } from './decision-rows.ts'
import { subjectFault, type DecisionStatement, type SubjectFault } from './decision-statement.ts'
import { delegatorsOf } from './delegations.ts'
import { personsWhoDrafted } from './draft-authors.ts'
import type { DraftFacts, EffectiveRules } from './effective-rules.ts'
import { listPasskeys } from './passkey-rows.ts'
import type { RelyingParty } from './relying-party.ts'
import { verifyStoredApproval, type StoredApprovalFault } from './verify-stored-approval.ts'

/** Why a decision does not count, in the order of the checks. */
export type DecisionFault =
  | StoredApprovalFault
  | 'other_record'
  | 'other_party'
  | SubjectFault
  | 'passkey_removed'
  | 'passkey_too_new'
  | 'drafter'
  | 'delegation_ended'
  | 'in_the_future'
  | 'too_old'

export interface Circumstances {
  readonly agentId: string
  /** Undefined: the gateway's address permits no passkeys. */
  readonly party: RelyingParty | undefined
  readonly now: Date
  readonly maximumAgeMs: number
}

export interface JudgedDecision {
  readonly decision: DraftDecision
  readonly statement: DecisionStatement | undefined
  readonly fault: DecisionFault | undefined
}

/** How far the time of a decision may lie ahead: clocks of two instances differ. */
const CLOCK_SKEW_MS = 60_000

/** The last decision of each person, each verified from its stored bytes and compared with what would be sealed. */
export async function judgeDecisions(
  db: Queries,
  decisions: readonly DraftDecision[],
  about: { readonly facts: DraftFacts; readonly rules: EffectiveRules },
  circumstances: Circumstances,
): Promise<JudgedDecision[]> {
  const last = new Map(decisions.map((decision) => [decision.personId, decision]))
  const drafters = await personsWhoDrafted(db, circumstances.agentId, about.facts.draftId)
  return Promise.all(
    [...last.values()].map(async (decision): Promise<JudgedDecision> => {
      const verdict = await verifyStoredApproval(decision)
      if (!verdict.verified) return { decision, statement: undefined, fault: verdict.fault }
      const { statement } = verdict
      const fault =
        recordFault(decision, statement, circumstances) ??
        subjectFault(statement, about.facts, about.rules) ??
        (await passkeyFault(db, decision, about.facts)) ??
        (await personFault(db, statement, drafters)) ??
        ageFault(statement, circumstances)
      return { decision, statement, fault }
    }),
  )
}

/** The columns say what the signed statement says, and the passkey was used at this gateway. */
function recordFault(
  decision: DraftDecision,
  statement: DecisionStatement,
  { party }: Circumstances,
): DecisionFault | undefined {
  if (decision.personId !== statement.approver || decision.decision !== statement.decision)
    return 'other_record'
  return decision.origin === party?.origin && decision.rpId === party.id ? undefined : 'other_party'
}

async function passkeyFault(
  db: Queries,
  { passkeyId, personId, publicKey }: DraftDecision,
  { createdAt }: DraftFacts,
): Promise<DecisionFault | undefined> {
  const passkey = (await listPasskeys(db, personId)).find((each) => each.passkeyId === passkeyId)
  if (!passkey || Buffer.compare(passkey.publicKey, publicKey) !== 0) return 'passkey_removed'
  return Date.parse(passkey.registeredAt) < Date.parse(createdAt) ? undefined : 'passkey_too_new'
}

async function personFault(
  db: Queries,
  { approver, on_behalf_of: principal, time }: DecisionStatement,
  drafters: readonly string[],
): Promise<DecisionFault | undefined> {
  if (drafters.includes(approver) || (principal !== undefined && drafters.includes(principal)))
    return 'drafter'
  if (principal === undefined || (await delegatorsOf(db, approver, time)).includes(principal))
    return undefined
  return 'delegation_ended'
}

function ageFault({ time }: DecisionStatement, { now, maximumAgeMs }: Circumstances) {
  const age = now.getTime() - Date.parse(time)
  if (!(age >= -CLOCK_SKEW_MS)) return 'in_the_future'
  return age > maximumAgeMs ? 'too_old' : undefined
}

/** Whether these approvals fulfil every rule. */
export function areEnough(approvals: readonly DecisionStatement[], { needs }: EffectiveRules): boolean {
  return needs.every(({ people, approvers }) => countPeople(approvals, approvers) >= people)
}

/** A delegate and whoever let it decide count once together, whichever of them approved. */
function countPeople(approvals: readonly DecisionStatement[], approvers: readonly string[]): number {
  const counted = new Set<string>()
  let people = 0
  for (const { approver, on_behalf_of: principal = approver } of approvals) {
    if (approvers.length > 0 && !approvers.includes(principal)) continue
    if (counted.has(approver) || counted.has(principal)) continue
    counted.add(approver).add(principal)
    people += 1
  }
  return people
}
