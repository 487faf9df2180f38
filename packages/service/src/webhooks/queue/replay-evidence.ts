import { deferToCommit, type Transaction } from '@agent-exchange/database'
import { lockNames } from '../../kernel/named-locks.ts'
import { linkEntries } from '../../features/audit/chain.ts'
import { toEntryText } from '../../features/audit/entry-text.ts'
import { insertAuditRecords } from '../../features/audit/record-store.ts'
import {
  chainsOf,
  moveChains,
  recordedPackages,
  type RecordedPackage,
} from '../../features/packages/store.ts'
import { moveThreadEnds, threadEnds } from '../../features/threads/store.ts'
import type { ReplayRow } from './delivery-store.ts'

/** By id, packages whose threads this transaction has locked. */
export type HeldThreads = ReadonlyMap<string, RecordedPackage>

/**
 * Locks the threads of packages whose deliveries are to be replayed. To be taken before an endpoint: those who write
 * notifications lock a thread, then a stream, and whoever changes an endpoint locks its stream first.
 */
export async function holdThreads(
  tx: Transaction,
  deliveries: readonly { readonly package_id: string }[],
): Promise<HeldThreads> {
  const packages = await recordedPackages(tx, [...new Set(deliveries.map(({ package_id }) => package_id))])
  const threads = [...packages.values()].map(({ thread_id }) => thread_id)
  await lockNames(tx, 'thread', threads)
  return packages
}

/**
 * AUD-01, EVT-12: each replay, with its actor and reason, in the evidence of the organization whose delivery it is. It is
 * the only party of its record: the other party of the package sees a placeholder, and in version 1 a gap.
 */
export async function recordReplays(
  tx: Transaction,
  replays: readonly ReplayRow[],
  packages: HeldThreads,
  { actor, reason, now }: { readonly actor: string; readonly reason: string; readonly now: string },
): Promise<void> {
  const threadIds = new Set([...packages.values()].map(({ thread_id }) => thread_id))
  // Under the lock: the chains may have grown since the packages were read.
  const [threads, current] = await Promise.all([
    threadEnds(tx, [...threadIds]),
    recordedPackages(tx, [...packages.keys()]),
  ])
  const drafts = replays.map(({ organization_id, package_id, replay_of, ...delivery }) => {
    const held = packages.get(package_id)
    if (!held) throw new Error('a replay in a thread that is not locked')
    const replayed = replay_of === null ? {} : { replay_of }
    const proof = { kind: 'delivery_replayed', actor, reason, ...delivery, ...replayed }
    return {
      threadId: held.thread_id,
      packageId: package_id,
      contentDigest: held.content_digest,
      receiptSignature: held.receipt_signature,
      senderOrgId: organization_id,
      recipientOrgId: organization_id,
      text: toEntryText({ proof }),
      now,
    }
  })
  const { records, ends } = linkEntries({ threads, packages: chainsOf(current.values()) }, drafts)
  deferToCommit(
    tx,
    insertAuditRecords(tx, records),
    moveThreadEnds(tx, ends.threads),
    moveChains(tx, ends.packages),
  )
}
