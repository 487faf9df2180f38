import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { ExchangeError } from '../errors.ts'
import { hasEnded, OUTBOX_STATES, type Outbox, type OutboxEntry } from '../outbox/outbox.ts'

/** How long a statement waits for a lock of another process. */
const BUSY_MS = 5_000
const OWNER_ONLY = 0o600
/** SQLite's name for an in-memory database. */
const IN_MEMORY = ':memory:'
/** Version of the schema. A file of another version is refused. */
const VERSION = 1
const ENDED = OUTBOX_STATES.filter((state) => hasEnded({ state }))

const SCHEMA = `
  create table if not exists outbox (
    package_id text primary key,
    state text not null,
    revision integer not null,
    created_at text not null,
    updated_at text not null,
    entry text not null
  ) strict, without rowid;
  create index if not exists outbox_by_state on outbox (state, created_at);
`

export interface SqliteOutbox extends Outbox, Disposable {
  /** Threads of accepted packages that were not pruned yet. */
  threads(): Promise<readonly string[]>
  close(): void
}

/**
 * An outbox in an SQLite file that only its owner can read. Each change is on disk before it returns
 * (`synchronous = full`). Several processes may share the file.
 *
 * @example
 * using outbox = openSqliteOutbox('agent/outbox.db')
 * await resumeOutbox(context, { outbox })
 */
export function openSqliteOutbox(file: string): SqliteOutbox {
  const db = orUnavailable(() => openDatabase(file))
  const find = db.prepare('select entry from outbox where package_id = ?')
  const insert = db.prepare(`
    insert into outbox (package_id, state, revision, created_at, updated_at, entry) values (?, ?, ?, ?, ?, ?)
    on conflict (package_id) do update set state = excluded.state, revision = excluded.revision,
      created_at = excluded.created_at, updated_at = excluded.updated_at, entry = excluded.entry
    where outbox.state = 'refused'`)
  const change = db.prepare(`
    update outbox set state = ?, revision = ?, updated_at = ?, entry = ? where package_id = ? and revision = ?`)
  const open = db.prepare(`
    select entry from outbox where state not in (${ENDED.map(() => '?').join()}) order by created_at, package_id limit ?`)
  const remove = db.prepare(`
    delete from outbox where state in (${ENDED.map(() => '?').join()}) and julianday(updated_at) < julianday(?)`)

  const accepted = db.prepare(`
    select distinct json_extract(entry, '$.metadata.thread_id') as thread from outbox where state = 'accepted'`)

  const read = (packageId: string): OutboxEntry | undefined => {
    const row = find.get(packageId)
    return row === undefined ? undefined : toEntry(row)
  }
  const close = () => {
    if (db.isOpen) db.close()
  }

  return {
    add: async (entry) =>
      orUnavailable(() => {
        const revision = (read(entry.packageId)?.revision ?? 0) + 1
        const { packageId, state, createdAt, updatedAt } = entry
        insert.run(packageId, state, revision, createdAt, updatedAt, JSON.stringify({ ...entry, revision }))
        return read(packageId) ?? entry
      }),
    read: async (packageId) => orUnavailable(() => read(packageId)),
    advance: async (entry, changes) =>
      orUnavailable(() => {
        const changed = { ...entry, ...changes, revision: entry.revision + 1 }
        const { state, revision, updatedAt, packageId } = changed
        change.run(state, revision, updatedAt, JSON.stringify(changed), packageId, entry.revision)
        return read(packageId) ?? entry
      }),
    pending: async (limit) => orUnavailable(() => open.all(...ENDED, limit).map(toEntry)),
    prune: async (endedBefore) => orUnavailable(() => Number(remove.run(...ENDED, endedBefore).changes)),
    threads: async () => orUnavailable(() => accepted.all().map(({ thread }) => String(thread))),
    close,
    [Symbol.dispose]: close,
  }
}

function openDatabase(file: string): DatabaseSync {
  // Created before SQLite opens it, with mode 0600, which -wal and -shm inherit.
  if (file !== IN_MEMORY) closeSync(openSync(file, 'a', OWNER_ONLY))
  const db = new DatabaseSync(file, { timeout: BUSY_MS })
  db.exec('pragma journal_mode = wal; pragma synchronous = full;')
  const version = Number(Object.values(db.prepare('pragma user_version').get() ?? {})[0])
  if (version !== 0 && version !== VERSION) throw new Error(`the outbox is of version ${version}`)
  db.exec(`${SCHEMA} pragma user_version = ${VERSION};`)
  return db
}

function orUnavailable<T>(work: () => T): T {
  try {
    return work()
  } catch (cause) {
    throw new ExchangeError('outbox_unavailable', { cause })
  }
}

function toEntry({ entry }: Record<string, unknown>): OutboxEntry {
  return JSON.parse(String(entry)) as OutboxEntry
}
