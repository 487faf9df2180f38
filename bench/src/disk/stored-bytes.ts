import type { Database } from '@agent-exchange/database'
import { open, type DatabaseTarget } from '../exchange/postgres-server.ts'

/** How long a table keeps the rows of a package: `content` and so on until retention deletes them, `evidence` for ever. */
export type Kind = 'content' | 'deliveries' | 'notifications' | 'retries' | 'evidence'

const KINDS: Readonly<Record<string, Kind>> = {
  package_content: 'content',
  delivery: 'deliveries',
  delivery_attempt: 'deliveries',
  delivery_claim: 'deliveries',
  notification: 'notifications',
  notification_acknowledgement: 'notifications',
  idempotency_record: 'retries',
}

/** A table or an index, with all its partitions. */
export interface StoredPart {
  readonly table: string
  /** Undefined for the rows. */
  readonly index: string | undefined
  readonly kind: Kind
  readonly bytes: number
}

/** Bytes of live rows and indexes: `vacuum full` removes what dead rows and half-empty pages take. */
export async function readStored(superuser: DatabaseTarget): Promise<StoredPart[]> {
  await using db = open(superuser, 1)
  await db`set statement_timeout = 0`
  await db`vacuum full`
  return partsOf(db)
}

/** Every table and index as it is now. */
export async function partsOf(db: Database): Promise<StoredPart[]> {
  // TOAST counts as rows. An index of a partition counts as its columns, under the name of the partitioned table.
  const rows = await db<{ table: string; index: string | null; bytes: number }[]>`
    select coalesce(pg_partition_root(t.oid), t.oid)::regclass::text as table, part.index, sum(part.bytes)::float8 as bytes
    from pg_class t, lateral (
      select null as index, pg_table_size(t.oid) as bytes
      union all
      select case when i.indisprimary then 'primary key ' when i.indisunique then 'unique ' else '' end ||
          regexp_replace(pg_get_indexdef(i.indexrelid), '^.* USING (\\w+) ', '\\1 '), pg_relation_size(i.indexrelid)
      from pg_index i where i.indrelid = t.oid) as part
    where t.relkind = 'r' and t.relnamespace = 'public'::regnamespace
    group by 1, 2`
  return rows.map(({ table, index, bytes }) => ({
    table,
    index: index ?? undefined,
    kind: KINDS[table] ?? 'evidence',
    bytes,
  }))
}

/** Bytes of write-ahead log since the server was initialized. */
export async function readWal(superuser: DatabaseTarget): Promise<number> {
  await using db = open(superuser, 1)
  const [row] = await db<{ bytes: number }[]>`
    select pg_wal_lsn_diff(pg_current_wal_lsn(), '0/0')::float8 as bytes`
  return row?.bytes ?? 0
}
