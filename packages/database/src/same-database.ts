import { DatabaseFailure } from './database-errors.ts'
import type { Queries } from './queries.ts'

/**
 * Locks that are taken over the direct address must exclude the work that is done over the other one.
 *
 * @throws {DatabaseFailure} if the two addresses lead to different databases
 */
export async function checkSameDatabase(db: Queries, direct: Queries): Promise<void> {
  const [one, other] = await Promise.all([identityOf(db), identityOf(direct)])
  if (one === other) return
  throw new DatabaseFailure(
    'AEX_DATABASE_DIRECT_URL and DATABASE_URL lead to different databases. Let both lead to the same one.',
  )
}

/** The cluster, which keeps its identifier on standbys, and the database in it. */
async function identityOf(db: Queries): Promise<string | undefined> {
  const [row] = await db<{ identity: string }[]>`
    select concat_ws('/', (select system_identifier from pg_control_system()), oid) as identity
    from pg_database where datname = current_database()`
  return row?.identity
}
