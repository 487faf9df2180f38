import type { Transaction } from '../../db/database.ts'
import { lockNames } from '../../kernel/named-locks.ts'
import { deferToCommit } from '../../db/transaction.ts'
import { insertAuditRecords, linkEntries } from '../audit/chain.ts'
import { toEntryText } from '../audit/entry-text.ts'
import { threadsOf } from '../packages/store.ts'
import { chainEnds, moveChainEnds } from '../threads/store.ts'

/** By package, the thread that this transaction has locked. */
export type HeldThreads = ReadonlyMap<string, string>

/**
 * Locks the threads of packages whose deliveries are to be replayed. To be taken before an endpoint: those who write
 * notifications lock a thread, then a stream, and whoever changes an endpoint locks its stream first.
 */
export async function holdThreads(
  tx: Transaction,
  deliveries: readonly { readonly package_id: string }[],
): Promise<HeldThreads> {
  const threads = await threadsOf(tx, [...new Set(deliveries.map(({ package_id }) => package_id))])
  await lockNames(tx, 'thread', [...threads.values()])
  return threads
}

/** A delivery that an operator had made. */
export interface ReplayFact {
  readonly delivery_id: string
  readonly replay_of: string | null
  readonly notification_id: string
  readonly event_id: string
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly package_id: string
}

/**
 * AUD-01, EVT-12: each replay, with its actor and reason, in the evidence of the organization whose delivery it is. It is
 * the only party of its record, so that the other party of the package sees a gap.
 */
export async function recordReplays(
  tx: Transaction,
  replays: readonly ReplayFact[],
  threads: HeldThreads,
  { actor, reason, now }: { readonly actor: string; readonly reason: string; readonly now: string },
): Promise<void> {
  const ends = await chainEnds(tx, [...new Set(threads.values())])
  const drafts = replays.map(({ organization_id, package_id, replay_of, ...delivery }) => {
    const threadId = threads.get(package_id)
    if (threadId === undefined) throw new Error('a replay in a thread that is not locked')
    const replayed = replay_of === null ? {} : { replay_of }
    const proof = { kind: 'delivery_replayed', actor, reason, ...delivery, ...replayed }
    return {
      threadId,
      packageId: package_id,
      senderOrgId: organization_id,
      recipientOrgId: organization_id,
      text: toEntryText({ proof }),
      now,
    }
  })
  const linked = linkEntries(ends, drafts)
  deferToCommit(tx, insertAuditRecords(tx, linked.records), moveChainEnds(tx, linked.ends))
}
