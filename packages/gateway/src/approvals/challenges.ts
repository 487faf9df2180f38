import type { Queries, Transaction } from '@agent-exchange/database'
import { CHALLENGE_MS, MAXIMUM_OPEN_CHALLENGES } from './approval-limits.ts'
import { ApprovalProblem } from './approval-problem.ts'

/** Owner of the table passkey_challenge. */

export interface Challenge {
  /** As WebAuthn writes it: base64url. */
  readonly challenge: string
  readonly purpose: 'register' | 'decide'
  readonly personId: string
}

export async function issueChallenge(
  db: Queries,
  { challenge, purpose, personId }: Challenge,
  { now, statement = null }: { readonly now: Date; readonly statement?: string | null },
): Promise<void> {
  const endsAt = new Date(now.getTime() + CHALLENGE_MS).toISOString()
  await db`delete from passkey_challenge where ends_at <= ${now.toISOString()}`
  const { count } = await db`
    insert into passkey_challenge (challenge, purpose, person_id, statement, ends_at)
    select ${challenge}, ${purpose}, ${personId}, ${statement}, ${endsAt}
    where (
      select count(*) from passkey_challenge
      where purpose = ${purpose} and person_id = ${personId}) < ${MAXIMUM_OPEN_CHALLENGES}`
  if (count === 0) throw new ApprovalProblem('too_many_challenges')
}

/** Notes the challenge of a sign-in until it ends. Fails if it was answered before. */
export async function noteSignIn(
  tx: Transaction,
  { challenge, endsAt }: { readonly challenge: string; readonly endsAt: Date },
  now: Date,
): Promise<void> {
  await tx`delete from passkey_challenge where ends_at <= ${now.toISOString()}`
  const { count } = await tx`
    insert into passkey_challenge (challenge, purpose, ends_at)
    values (${challenge}, 'sign_in', ${endsAt.toISOString()}) on conflict do nothing`
  if (count === 0) throw new ApprovalProblem('challenge_unknown')
}

/** Takes the challenge, so that nobody can answer it a second time. Returns its statement. */
export async function takeChallenge(
  db: Queries,
  { challenge, purpose, personId }: Challenge,
  now: Date,
): Promise<string | null> {
  const [row] = await db<{ statement: string | null; ends_at: string }[]>`
    delete from passkey_challenge
    where challenge = ${challenge} and purpose = ${purpose} and person_id = ${personId}
    returning statement, ends_at`
  if (!row || Date.parse(row.ends_at) <= now.getTime()) throw new ApprovalProblem('challenge_unknown')
  return row.statement
}
