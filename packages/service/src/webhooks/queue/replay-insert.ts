import type { Transaction } from '@agent-exchange/database'
import { orderedId } from '../../kernel/ids.ts'
import { appendAllToLog } from '../../features/operators/operator-log-store.ts'
import { insertReplayRows, type ReplayRow } from './delivery-store.ts'
import { recordReplays, type HeldThreads } from './replay-evidence.ts'
import { wakeWorkers } from './wake-workers.ts'

/** Who replays, and why: kept in the delivery and, for good, in the operator log and in evidence. */
export interface ReplayOrder {
  readonly actor: string
  readonly reason: string
  readonly now: string
}

export interface Replayable {
  readonly webhook_endpoint_id: string
  readonly organization_id: string
  readonly package_id: string
  readonly notification_id: string
  readonly event_id: string
  /** Null where the endpoint never had a delivery of this notification. */
  readonly replay_of: string | null
}

export interface Replayed {
  readonly delivery_id: string
  readonly replay_of: string | null
}

/** EVT-12: a new delivery of the same notification, and so of the same event and bytes. The threads are locked. */
export async function insertReplays(
  tx: Transaction,
  wanted: readonly Replayable[],
  threads: HeldThreads,
  order: ReplayOrder,
): Promise<Replayed[]> {
  if (wanted.length === 0) return []
  const { actor, reason, now } = order
  const rows = wanted.map((each) => toRow(each, orderedId('dlv', now)))
  await insertReplayRows(tx, rows, order)
  for (const endpointId of new Set(rows.map((row) => row.webhook_endpoint_id)))
    await wakeWorkers(tx, endpointId)
  await appendAllToLog(
    tx,
    rows.map(({ delivery_id, replay_of, notification_id, event_id, webhook_endpoint_id }) => ({
      actor,
      action: 'delivery.replay',
      target: replay_of ?? notification_id,
      reason,
      details: { delivery_id, replay_of, notification_id, event_id, webhook_endpoint_id },
      now,
    })),
  )
  await recordReplays(tx, rows, threads, order)
  return rows.map(({ delivery_id, replay_of }) => ({ delivery_id, replay_of }))
}

/** Nothing else of what was read. */
function toRow(
  { webhook_endpoint_id, organization_id, package_id, notification_id, event_id, replay_of }: Replayable,
  deliveryId: string,
): ReplayRow {
  return {
    delivery_id: deliveryId,
    webhook_endpoint_id,
    organization_id,
    package_id,
    notification_id,
    event_id,
    replay_of,
  }
}
