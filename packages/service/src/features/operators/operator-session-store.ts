import { fragment, type Queries, type Transaction } from '@agent-exchange/database'
import type { OperatorRole } from '../../kernel/operator-roles.ts'

/** Table operator_session. The token of a session is stored as a hash only. */
export interface SessionRow {
  readonly session_id: string
  readonly operator_name: string
  readonly role: OperatorRole
  readonly signed_in_by: SignedInBy
  readonly created_at: string
  readonly last_seen_at: string
  readonly expires_at: string
}

export type SignedInBy = 'token' | 'oidc'

export interface NewSession {
  readonly sessionId: string
  readonly tokenHash: Uint8Array
  readonly operatorName: string
  /** From the identity provider. Undefined for a token: its operator has the role. */
  readonly role: OperatorRole | undefined
  readonly signedInBy: SignedInBy
  readonly now: string
  readonly expiresAt: string
}

/** When a session is alive: it was used after `seenAfter` and has not expired. */
export interface Alive {
  readonly now: string
  readonly seenAfter: string
}

export async function insertSession(tx: Transaction, session: NewSession): Promise<void> {
  await tx`
    insert into operator_session (
      session_id, token_hash, operator_name, role, signed_in_by, created_at, last_seen_at, expires_at)
    values (${session.sessionId}, ${Buffer.from(session.tokenHash)}, ${session.operatorName}, ${session.role ?? null},
      ${session.signedInBy}, ${session.now}, ${session.now}, ${session.expiresAt})`
}

/** Sessions of one operator are bounded: the oldest ones make room. */
export async function endOldestSessions(
  tx: Transaction,
  { operatorName, keep, now }: { operatorName: string; keep: number; now: string },
): Promise<void> {
  await tx`
    update operator_session set ended_at = ${now} where session_id in (
      select session_id from operator_session
      where operator_name = ${operatorName} and ended_at is null and expires_at > ${now}
      order by created_at desc, session_id offset ${keep})`
}

/** With the current role of the operator. A disabled operator has no sessions. */
const living = ({ now, seenAfter }: Alive) => fragment`
  select session_id, operator_name, coalesce(session.role, operator.role) as role, signed_in_by,
    session.created_at, last_seen_at, expires_at
  from operator_session as session
  left join operator on operator.name = session.operator_name and signed_in_by = 'token'
  where ended_at is null and expires_at > ${now} and last_seen_at > ${seenAfter}
    and (signed_in_by = 'oidc' or operator.name is not null and operator.disabled_at is null)`

export async function findSession(
  db: Queries,
  tokenHash: Uint8Array,
  alive: Alive,
): Promise<SessionRow | undefined> {
  const [row] = await db<SessionRow[]>`${living(alive)} and session.token_hash = ${Buffer.from(tokenHash)}`
  return row
}

export async function findSessionById(
  db: Queries,
  sessionId: string,
  alive: Alive,
): Promise<SessionRow | undefined> {
  const [row] = await db<SessionRow[]>`${living(alive)} and session_id = ${sessionId}`
  return row
}

/** The newest first. */
export async function listSessions(
  db: Queries,
  alive: Alive,
  { after, limit }: { after: { created_at: string; session_id: string } | undefined; limit: number },
): Promise<SessionRow[]> {
  const start = after
    ? fragment`and (session.created_at, session_id) < (${after.created_at}, ${after.session_id})`
    : fragment``
  return db<SessionRow[]>`
    ${living(alive)} ${start} order by session.created_at desc, session_id desc limit ${limit}`
}

export async function touchSession(db: Queries, sessionId: string, now: string): Promise<void> {
  await db`update operator_session set last_seen_at = ${now} where session_id = ${sessionId}`
}

/** The name of its operator; undefined if there is no such session or it has ended. */
export async function endSession(
  tx: Transaction,
  sessionId: string,
  now: string,
): Promise<string | undefined> {
  const [row] = await tx<{ operator_name: string }[]>`
    update operator_session set ended_at = ${now}
    where session_id = ${sessionId} and ended_at is null and expires_at > ${now} returning operator_name`
  return row?.operator_name
}

/** Rows of one step of the retention job. */
const STEP_SESSIONS = 1_000

export async function removeOldSessions(tx: Transaction, before: string): Promise<number> {
  const rows = await tx`
    delete from operator_session where session_id in (
      select session_id from operator_session where expires_at < ${before} limit ${STEP_SESSIONS})
    returning session_id`
  return rows.length
}
