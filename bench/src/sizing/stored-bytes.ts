import { open, type DatabaseTarget } from '../exchange/postgres-server.ts'

/** What retention keeps for how long; everything else is evidence. */
export const KEPT = {
  content: ['package_content'],
  deliveries: ['delivery', 'delivery_attempt', 'delivery_claim'],
  notifications: ['notification', 'notification_acknowledgement'],
  retries: ['idempotency_record'],
} as const

export type Kind = keyof typeof KEPT | 'evidence'

export type Bytes = Readonly<Record<Kind, number>>

export interface Stored {
  readonly bytes: Bytes
  readonly packages: number
  readonly deliveries: number
  /** All indexes of the database. */
  readonly indexBytes: number
  /** Tables of evidence by their bytes, with partitions and indexes. */
  readonly tables: ReadonlyMap<string, number>
}

/** Bytes of live rows and indexes: `vacuum full` removes what dead rows and half-empty pages take. */
export async function readStored(superuser: DatabaseTarget): Promise<Stored> {
  await using db = open(superuser, 1)
  await db`set statement_timeout = 0`
  await db`vacuum full`
  const [size] = await db<{ total: number }[]>`select pg_database_size(current_database())::float8 as total`
  // A table without partitions has an empty partition tree.
  const kinds = Object.entries(KEPT).map(async ([kind, tables]) => {
    const [row] = await db<{ bytes: number }[]>`
      select sum(pg_total_relation_size(relid))::float8 as bytes
      from unnest(${[...tables]}::text[]) as name, lateral (
        select relid from pg_partition_tree(name::regclass) union select name::regclass) as part`
    return [kind, row?.bytes ?? 0] as const
  })
  const known = Object.fromEntries(await Promise.all(kinds)) as Omit<Bytes, 'evidence'>
  const evidence = (size?.total ?? 0) - Object.values(known).reduce((sum, bytes) => sum + bytes, 0)
  const [rows] = await db<{ packages: number; deliveries: number }[]>`
    select (select count(*) from package)::int as packages, (select count(*) from delivery)::int as deliveries`
  const limited = Object.values(KEPT).flat()
  const tables = await db<{ name: string; bytes: number; indexes: number }[]>`
    select relname as name, pg_total_relation_size(oid)::float8 as bytes, pg_indexes_size(oid)::float8 as indexes
    from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`
  return {
    bytes: { ...known, evidence },
    packages: rows?.packages ?? 0,
    deliveries: rows?.deliveries ?? 0,
    indexBytes: tables.reduce((sum, { indexes }) => sum + indexes, 0),
    tables: new Map(
      tables
        .filter(({ name }) => !limited.some((each) => name.startsWith(each)))
        .map(({ name, bytes }) => [name, bytes]),
    ),
  }
}

/** Bytes of write-ahead log since the server was initialized. */
export async function readWal(superuser: DatabaseTarget): Promise<number> {
  await using db = open(superuser, 1)
  const [row] = await db<{ bytes: number }[]>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes`
  return row?.bytes ?? 0
}
