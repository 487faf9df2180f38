import { fragment, type Queries, type Transaction } from '@agent-exchange/database'
import { pageOf, rowsToRead, type ListPage, type PageRequest } from './list-page.ts'
import { CLEANUP_ROWS } from './people-limits.ts'

/** Owner of the table desk_session. The token of a session is stored as a hash only. */

export type SignedInBy = 'provider' | 'link' | 'passkey'

export interface SessionRow {
  readonly session_id: string
  readonly person_id: string
  readonly signed_in_by: SignedInBy
  readonly agent_id: string | null
  readonly created_at: string
  readonly last_seen_at: string
  readonly expires_at: string
  readonly proved_at: string | null
}

/** When a session is alive: it was used after `seenAfter` and has not expired. */
export interface Alive {
  readonly now: string
  readonly seenAfter: string
}

const COLUMNS = fragment`session_id, person_id, signed_in_by, agent_id, created_at, last_seen_at, expires_at, proved_at`
const living = ({ now, seenAfter }: Alive) =>
  fragment`ended_at is null and expires_at > ${now} and last_seen_at > ${seenAfter}`

export async function insertSession(
  tx: Transaction,
  session: Omit<SessionRow, 'agent_id' | 'last_seen_at'>,
  tokenHash: Uint8Array,
): Promise<void> {
  const { session_id, person_id, signed_in_by, created_at, expires_at, proved_at } = session
  await tx`
    insert into desk_session
      (session_id, token_hash, person_id, signed_in_by, created_at, last_seen_at, expires_at, proved_at)
    values
      (${session_id}, ${tokenHash}, ${person_id}, ${signed_in_by}, ${created_at}, ${created_at}, ${expires_at},
        ${proved_at})`
}

/** Sessions of one person are bounded: the oldest ones make room. */
export async function endOldest(tx: Transaction, personId: string, keep: number, at: string): Promise<void> {
  await tx`
    update desk_session set ended_at = ${at} where session_id in (
      select session_id from desk_session where person_id = ${personId} and ended_at is null
      order by created_at desc, session_id offset ${keep})`
}

export async function findByToken(
  db: Queries,
  tokenHash: Uint8Array,
  alive: Alive,
): Promise<SessionRow | undefined> {
  const [row] = await db.byIndex<SessionRow[]>`
    select ${COLUMNS} from desk_session where token_hash = ${tokenHash} and ${living(alive)}`
  return row
}

export async function findProof(
  db: Queries,
  sessionId: string,
): Promise<Pick<SessionRow, 'proved_at' | 'signed_in_by'> | undefined> {
  const [row] = await db<Pick<SessionRow, 'proved_at' | 'signed_in_by'>[]>`
    select proved_at, signed_in_by from desk_session where session_id = ${sessionId}`
  return row
}

/** Newest first. `after` is the id of a session, which may have ended since. */
export async function listLiving(
  db: Queries,
  alive: Alive,
  asked: PageRequest,
): Promise<ListPage<SessionRow>> {
  const { after } = asked
  const older =
    after === undefined
      ? fragment``
      : fragment`and (created_at, session_id) <
          (select created_at, session_id from desk_session where session_id = ${after})`
  const rows = await db<SessionRow[]>`
    select ${COLUMNS} from desk_session where ${living(alive)} ${older}
    order by created_at desc, session_id desc limit ${rowsToRead(asked)}`
  return pageOf(rows, asked, ({ session_id }) => session_id)
}

export async function touch(db: Queries, sessionId: string, at: string): Promise<void> {
  await db`update desk_session set last_seen_at = ${at} where session_id = ${sessionId}`
}

export async function setAgent(db: Queries, sessionId: string, agentId: string): Promise<void> {
  await db`update desk_session set agent_id = ${agentId} where session_id = ${sessionId}`
}

/** Whose session ended; undefined if there is none that lives. */
export async function endOne(tx: Transaction, sessionId: string, at: string): Promise<string | undefined> {
  const [row] = await tx<{ person_id: string }[]>`
    update desk_session set ended_at = ${at} where session_id = ${sessionId} and ended_at is null
    returning person_id`
  return row?.person_id
}

export async function endAllOf(tx: Transaction, personId: string, at: string): Promise<number> {
  const { count } = await tx`
    update desk_session set ended_at = ${at} where person_id = ${personId} and ended_at is null`
  return count
}

export async function deleteOldSessions(db: Queries, before: string): Promise<void> {
  await db`
    delete from desk_session where session_id in (
      select session_id from desk_session where expires_at < ${before} limit ${CLEANUP_ROWS})`
}
