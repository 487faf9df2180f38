import { createHash, randomBytes } from 'node:crypto'
import type { Queries, Transaction } from '@agent-exchange/database'
import { CLEANUP_ROWS, LINK_VALID_MS } from './people-limits.ts'

/** Owner of the table person_link. */

const SECRET_BYTES = 32
const SECRET = /^[\w-]{43}$/u

const hashOf = (secret: string) => createHash('sha256').update(secret).digest()

/** The secret of a new link. Earlier ones of the person stop working. */
export async function newLink(tx: Transaction, personId: string, now: Date): Promise<string> {
  const secret = randomBytes(SECRET_BYTES).toString('base64url')
  const endsAt = new Date(now.getTime() + LINK_VALID_MS).toISOString()
  await endLinks(tx, personId)
  await tx`
    insert into person_link (link_hash, person_id, ends_at)
    values (${hashOf(secret)}, ${personId}, ${endsAt})`
  return secret
}

/** Uses the link, once. Returns whose it is; undefined if it is unknown, used or too old. */
export async function useLink(tx: Transaction, secret: string, now: Date): Promise<string | undefined> {
  if (!SECRET.test(secret)) return undefined
  const [row] = await tx<{ person_id: string }[]>`
    update person_link set used_at = ${now.toISOString()}
    where link_hash = ${hashOf(secret)} and used_at is null and ends_at > ${now.toISOString()}
    returning person_id`
  return row?.person_id
}

/** When the person signed in by a link last, while links are kept. */
export async function lastLinkUse(db: Queries, personId: string): Promise<string | undefined> {
  const [row] = await db<{ used_at: string }[]>`
    select used_at from person_link where person_id = ${personId} and used_at is not null
    order by used_at desc limit 1`
  return row?.used_at
}

export async function endLinks(tx: Transaction, personId: string): Promise<void> {
  await tx`delete from person_link where person_id = ${personId} and used_at is null`
}

export async function deleteOldLinks(db: Queries, before: string): Promise<void> {
  await db`
    delete from person_link where link_hash in (
      select link_hash from person_link where ends_at < ${before} limit ${CLEANUP_ROWS})`
}
