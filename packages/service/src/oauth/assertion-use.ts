import { createHash } from 'node:crypto'
import type { Database, Queries } from '@agent-exchange/database'

/** Rows deleted per statement, and statements per run, so that locks stay short. */
export const PURGE_BATCH = 1_000
const PURGE_BATCHES = 100

/**
 * Records an assertion's id; false if it was used before. A single insert decides, so exactly one of several concurrent
 * processes gets true (RFC 7523 section 3, item 7).
 */
export async function recordAssertion(
  queries: Queries,
  { clientId, assertionId, expiresAt }: { clientId: string; assertionId: string; expiresAt: string },
): Promise<boolean> {
  const hash = createHash('sha256').update(`${clientId}\0${assertionId}`).digest()
  const { count } = await queries`
    insert into assertion_use (assertion_hash, expires_at) values (${hash}, ${expiresAt})
    on conflict do nothing`
  return count === 1
}

/** Deletes expired assertion ids and returns how many. */
export async function purgeAssertions(db: Database, now: string): Promise<number> {
  let purged = 0
  for (let batch = 0; batch < PURGE_BATCHES; batch++) {
    const { count } = await db`
      delete from assertion_use where assertion_hash in (
        select assertion_hash from assertion_use where expires_at < ${now}
        order by expires_at limit ${PURGE_BATCH} for update skip locked)`
    purged += count
    if (count < PURGE_BATCH) break
  }
  return purged
}
