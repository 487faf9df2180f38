import {
  deferToCommit,
  isUnavailable,
  loggableError,
  type Database,
  type Queries,
  type Transaction,
} from '@agent-exchange/database'
import { ExchangeError, type Outbox, type OutboxEntry } from '@agent-exchange/sdk'

interface EntryRow {
  readonly entry: string
  readonly revision: number
}

/** The packages of one agent that the exchange has not accepted yet: signed and sealed, unreadable without a key. */
export function openPostgresOutbox(db: Database, agentId: string): Outbox {
  const read = async (queries: Queries, packageId: string) => {
    const [row] = await queries<EntryRow[]>`
      select entry, revision from agent_outbox where agent_id = ${agentId} and package_id = ${packageId}`
    return row && toEntry(row)
  }
  /** The stored entry after a change. Both are sent with the commit. */
  const changeEntry = async (packageId: string, change: (tx: Transaction) => Promise<unknown>) => {
    const { stored } = await db.begin(async (tx) => {
      const changed = change(tx)
      const entry = read(tx, packageId)
      deferToCommit(tx, changed, entry)
      return { stored: entry }
    })
    return stored
  }
  return {
    async add(entry) {
      const { packageId, state, createdAt, updatedAt } = entry
      const stored = await orUnavailable(
        // The revision continues that of a refused entry, which is replaced; any other entry stays.
        changeEntry(
          packageId,
          (tx) => tx`
          insert into agent_outbox (agent_id, package_id, state, revision, created_at, updated_at, entry)
          values (${agentId}, ${packageId}, ${state}, 1, ${createdAt}, ${updatedAt}, ${JSON.stringify(entry)})
          on conflict (agent_id, package_id) do update set state = excluded.state,
            revision = agent_outbox.revision + 1, created_at = excluded.created_at,
            updated_at = excluded.updated_at, entry = excluded.entry
          where agent_outbox.state = 'refused'`,
        ),
      )
      return stored ?? entry
    },
    read: (packageId) => orUnavailable(read(db, packageId)),
    async advance(entry, change) {
      const changed = { ...entry, ...change, revision: entry.revision + 1 }
      const { state, revision, updatedAt, packageId } = changed
      const stored = await orUnavailable(
        changeEntry(
          packageId,
          (tx) => tx`
          update agent_outbox set state = ${state}, revision = ${revision}, updated_at = ${updatedAt},
            entry = ${JSON.stringify(changed)}
          where agent_id = ${agentId} and package_id = ${packageId} and revision = ${entry.revision}`,
        ),
      )
      return stored ?? entry
    },
    pending: (limit) =>
      orUnavailable(
        db<EntryRow[]>`
          select entry, revision from agent_outbox where agent_id = ${agentId} and state not in ('accepted', 'refused')
          order by created_at, package_id collate "C" limit ${limit}`.then((rows) => rows.map(toEntry)),
      ),
    prune: (endedBefore) =>
      orUnavailable(
        db`
          delete from agent_outbox where agent_id = ${agentId} and state in ('accepted', 'refused')
            and updated_at < ${endedBefore}`.then(({ count }) => count),
      ),
  }
}

const toEntry = ({ entry, revision }: EntryRow): OutboxEntry => ({
  ...(JSON.parse(entry) as OutboxEntry),
  revision,
})

async function orUnavailable<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    // Parameters of a failed statement are not part of the cause.
    throw new ExchangeError('outbox_unavailable', {
      cause: loggableError(error),
      retryable: isUnavailable(error),
    })
  }
}

/** Entries of an agent that moves in, as they are. Returns how many. */
export async function insertEntries(
  tx: Transaction,
  agentId: string,
  entries: Iterable<OutboxEntry>,
): Promise<number> {
  let inserted = 0
  for (const entry of entries) {
    const { packageId, state, revision, createdAt, updatedAt } = entry
    await tx`
      insert into agent_outbox (agent_id, package_id, state, revision, created_at, updated_at, entry)
      values (${agentId}, ${packageId}, ${state}, ${revision}, ${createdAt}, ${updatedAt}, ${JSON.stringify(entry)})`
    inserted += 1
  }
  return inserted
}
