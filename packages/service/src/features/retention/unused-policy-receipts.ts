import type { Transaction } from '@agent-exchange/database'
import { lockNames } from '../../kernel/named-locks.ts'
import { addUsage } from '../organizations/usage-store.ts'
import { emptyUnusedReceipts } from '../policy-receipts/store.ts'
import { saveProgress } from './progress-store.ts'

/** Receipts that one step looks at, used or not. */
const STEP_RECEIPTS = 1_000
const TASK = 'unused_policy_receipts'

/**
 * O-18: takes the bodies of policy receipts that no package refers to. Whoever sends a package holds its thread, and so
 * does this: a receipt is used or its body is taken, never both. Each receipt is examined once; receipts in use keep their body.
 */
export async function takeUnusedBodies(
  tx: Transaction,
  before: string,
): Promise<{ removed: number; hasMore: boolean }> {
  const looked = await tx<LookedAt[]>`
    select policy_receipt_id, thread_id, accepted_at, not exists (
      select from package where package.package_id = receipt.package_id
        and package.policy_receipt_id = receipt.policy_receipt_id offset 0) as is_unused
    from policy_receipt as receipt
    where accepted_at > coalesce((select done_until from retention_progress where task = ${TASK}), '-infinity')
      and accepted_at < ${before}
    order by accepted_at fetch first (${STEP_RECEIPTS}::integer) rows with ties`
  const last = looked.at(-1)
  if (!last) return { removed: 0, hasMore: false }
  const unused = looked.filter(({ is_unused, thread_id }) => is_unused && thread_id !== null)
  await lockNames(
    tx,
    'thread',
    unused.map(({ thread_id }) => String(thread_id)),
  )
  const emptied = await emptyUnusedReceipts(
    tx,
    unused.map(({ policy_receipt_id }) => policy_receipt_id),
  )
  await addUsage(
    tx,
    emptied.map((organizationId) => ({ organizationId, policyReceipts: -1 })),
  )
  await saveProgress(tx, TASK, last.accepted_at)
  return { removed: emptied.length, hasMore: looked.length >= STEP_RECEIPTS }
}

interface LookedAt {
  readonly policy_receipt_id: string
  readonly thread_id: string | null
  readonly accepted_at: string
  readonly is_unused: boolean
}
