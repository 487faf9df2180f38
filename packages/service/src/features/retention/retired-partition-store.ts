import type { Transaction } from '@agent-exchange/database'

/** The owner of the table retired_partition: partitions that are detached and not yet dropped. */
export interface RetiredPartition {
  readonly name: string
  readonly parent: string
  readonly credited_blocks: number
  /** Null if somebody else has dropped the table. */
  readonly blocks: number | null
}

export async function insertRetired(
  tx: Transaction,
  { name, parent, now }: { name: string; parent: string; now: string },
): Promise<void> {
  await tx`
    insert into retired_partition (name, parent, detached_at) values (${name}, ${parent}, ${now})`
}

export async function nextRetired(tx: Transaction): Promise<RetiredPartition | undefined> {
  const [retired] = await tx<RetiredPartition[]>`
    select name, parent, credited_blocks,
      pg_relation_size(to_regclass(name)) / current_setting('block_size')::bigint as blocks
    from retired_partition order by name limit 1`
  return retired
}

export async function saveCreditedBlocks(tx: Transaction, name: string, blocks: number): Promise<void> {
  await tx`
    update retired_partition set credited_blocks = ${blocks} where name = ${name}`
}

export async function removeRetired(tx: Transaction, name: string): Promise<void> {
  await tx`delete from retired_partition where name = ${name}`
}
