import type { Transaction } from '@agent-exchange/database'
import type { UsageChange } from '../organizations/usage-store.ts'
import { CONTENTS } from './partitioned-tables.ts'
import { limitLockWaits, type Step } from './retention-step.ts'
import { nextRetired, removeRetired, saveCreditedBlocks } from './retired-partition-store.ts'

/** Blocks that one step reads: 8 MB, or about a thousand contents. */
const STEP_BLOCKS = 1_000

/**
 * One step towards dropping a detached partition. The senders of contents get their bytes back first (O-13),
 * some blocks at a time; nobody else uses the table, so the position of a row does not change. The caller counts them.
 */
export async function dropRetired(tx: Transaction): Promise<Step & Credited> {
  const retired = await nextRetired(tx)
  if (!retired) return { removed: 0, hasMore: false, usage: [] }
  const { name, parent, credited_blocks: from, blocks } = retired
  if (parent === CONTENTS.name && blocks !== null && from < blocks) {
    const { removed, usage } = await creditBlocks(tx, name, from)
    await saveCreditedBlocks(tx, name, from + STEP_BLOCKS)
    return { removed, hasMore: true, usage }
  }
  await limitLockWaits(tx)
  await tx.unsafe(`drop table if exists ${name}`)
  await removeRetired(tx, name)
  return { removed: 0, hasMore: true, usage: [] }
}

/** The bytes that senders get back. */
export interface Credited {
  readonly usage: readonly UsageChange[]
}

/** Of the contents in the blocks. */
async function creditBlocks(
  tx: Transaction,
  name: string,
  from: number,
): Promise<Credited & { readonly removed: number }> {
  const rows = await tx.unsafe<{ sender_org_id: string; contents: number; bytes: number }[]>(
    `select sender_org_id, count(*) filter (where part = 0) as contents,
       sum(octet_length(before) + octet_length(payload) + octet_length(after))::bigint as bytes
     from ${name} as content join package using (package_id)
     where content.ctid >= '(${from},0)' and content.ctid < '(${from + STEP_BLOCKS},0)'
     group by sender_org_id`,
  )
  return {
    removed: rows.reduce((sum, { contents }) => sum + contents, 0),
    usage: rows.map(({ sender_org_id, bytes }) => ({ organizationId: sender_org_id, storedBytes: -bytes })),
  }
}
