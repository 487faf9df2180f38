import type { Queries } from '@agent-exchange/database'
import { findPerson } from '../people/person-rows.ts'
import { isApprover } from './approver-checks.ts'
import type { DraftDecision } from './decision-rows.ts'
import { subjectFault, type DecisionStatement, type SubjectFault } from './decision-statement.ts'
import { delegatorsOf } from './delegations.ts'
import { personsWhoDrafted } from './draft-authors.ts'
import { allNeeds, type DraftFacts, type EffectiveRules } from './effective-rules.ts'
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
  | 'not_an_approver'
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

/** Faults of an approval that its person gave all the same, so that it takes back the person's earlier decline. */
const FAULTS_THAT_LIFT = new Set<DecisionFault | undefined>([
  undefined,
  'rule_changed',
  'too_old',
  'not_an_approver',
])

export const isDecline = ({ decision, statement }: JudgedDecision) =>
  decision.decision === 'declined' || statement?.decision === 'declined'

/**
 * The last decision of each person, verified from its stored bytes and compared with what would be sealed, and the
 * decline before it that it did not take back.
 */
export async function judgeDecisions(
  db: Queries,
  decisions: readonly DraftDecision[],
  about: { readonly facts: DraftFacts; readonly rules: EffectiveRules },
  circumstances: Circumstances,
): Promise<JudgedDecision[]> {
  const ofPerson = Map.groupBy(decisions, ({ personId }) => personId)
  const drafters = await personsWhoDrafted(db, circumstances.agentId, about.facts.draftId)

  async function judge(decision: DraftDecision): Promise<JudgedDecision> {
    const verdict = await verifyStoredApproval(decision)
    const statement = verdict.verified ? verdict.statement : undefined
    // A decline gives no right. It binds by its existence, whatever became of its rule, passkey or person.
    if (isDecline({ decision, statement, fault: undefined })) {
      const isOther = statement !== undefined && statement.draft_digest !== about.facts.digest
      return { decision, statement, fault: isOther ? 'draft_changed' : undefined }
    }
    if (!verdict.verified) return { decision, statement, fault: verdict.fault }
    const fault =
      recordFault(decision, verdict.statement, circumstances) ??
      subjectFault(verdict.statement, about.facts, about.rules) ??
      (await passkeyFault(db, decision, about.facts)) ??
      (await personFault(db, verdict.statement, drafters)) ??
      ageFault(verdict.statement, circumstances)
    return { decision, statement, fault }
  }

  async function judgePerson(all: readonly DraftDecision[]): Promise<JudgedDecision[]> {
    const judged: JudgedDecision[] = []
    for (const decision of all.toReversed()) {
      const each = await judge(decision)
      if (judged.length === 0 || isDecline(each)) judged.push(each)
      if (isDecline(each) || FAULTS_THAT_LIFT.has(each.fault)) break
    }
    return judged
  }

  return (await Promise.all([...ofPerson.values()].map(judgePerson))).flat()
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
  const person = await findPerson(db, approver)
  if (!person || !(await isApprover(db, principal ?? approver))) return 'not_an_approver'
  if (principal === undefined || (await delegatorsOf(db, approver, time)).includes(principal))
    return undefined
  return 'delegation_ended'
}

function ageFault({ time }: DecisionStatement, { now, maximumAgeMs }: Circumstances) {
  const age = now.getTime() - Date.parse(time)
  if (!(age >= -CLOCK_SKEW_MS)) return 'in_the_future'
  return age > maximumAgeMs ? 'too_old' : undefined
}

export const countingApprovals = (judged: readonly JudgedDecision[]): DecisionStatement[] =>
  judged.flatMap(({ statement, fault }) => (statement && fault === undefined ? [statement] : []))

/** Whether these approvals fulfil every rule. */
export function areEnough(approvals: readonly DecisionStatement[], rules: EffectiveRules): boolean {
  return allNeeds(rules).every(({ people, approvers }) => countPeople(approvals, approvers) >= people)
}

type Approver = Pick<DecisionStatement, 'approver' | 'on_behalf_of'>

/** Whether one more approval, of this person, brings the draft nearer to what its rules ask for. */
export function wouldCount(
  added: Approver,
  approvals: readonly DecisionStatement[],
  rules: EffectiveRules,
): boolean {
  return allNeeds(rules).some(({ people, approvers }) => {
    const counted = countPeople(approvals, approvers)
    return counted < people && countPeople([...approvals, added], approvers) > counted
  })
}

/** A delegate and whoever let it decide count once together, whichever of them approved. */
function countPeople(approvals: readonly Approver[], approvers: readonly string[]): number {
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
