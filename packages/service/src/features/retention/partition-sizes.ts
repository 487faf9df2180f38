import type { Queries } from '@agent-exchange/database'
import { CONTENTS, defaultOf, isLast, listPartitions, PARTITIONED_TABLES } from './partitioned-tables.ts'

export interface PartitionSize {
  readonly table: string
  readonly partition: 'default' | 'last'
  readonly bytes: number
}

/** Sizes, without TOAST tables, of the partitions that must stay small: large ones cannot be divided. */
export async function readPartitionSizes(db: Queries): Promise<PartitionSize[]> {
  const last = (await listPartitions(db, CONTENTS)).find(isLast)
  const measured = [
    ...PARTITIONED_TABLES.map((table) => ({
      table: table.name,
      partition: 'default' as const,
      name: defaultOf(table),
    })),
    ...(last ? [{ table: CONTENTS.name, partition: 'last' as const, name: last.name }] : []),
  ]
  const sizes = await db<{ bytes: number | null }[]>`
    select pg_relation_size(to_regclass(name)) as bytes
    from unnest(${measured.map(({ name }) => name)}::text[]) with ordinality as measured (name, position)
    order by position`
  return measured.map(({ table, partition }, index) => ({
    table,
    partition,
    bytes: sizes[index]?.bytes ?? 0,
  }))
}
