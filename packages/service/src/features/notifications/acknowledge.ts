import type { Acknowledgement } from '@agent-exchange/protocol'
import type { Transaction } from '@agent-exchange/database'
import type { BatchMutation, Call } from '../../kernel/call.ts'
import { Problem, resultOrProblem } from '../../kernel/problem.ts'
import { insertAcknowledgements, type AcknowledgementRow } from './notification-store.ts'
import { requireStreamAccess } from './stream-access.ts'

/** EVT-11: a consumer confirms that it stored a notification. The first acknowledgement wins and is immutable. */
export const acknowledgeNotification: BatchMutation<'acknowledgeNotification'> = {
  authorize: ({ caller, context }) => requireStreamAccess(caller, context),

  queue: 'acknowledgements',
  async runBatch(calls, tx) {
    const known = await findNotifications(
      tx,
      calls.map(({ call }) => call.params.notification_id),
    )
    const results = calls.map(({ call }) =>
      resultOrProblem(() => toRow(call, known.get(call.params.notification_id))),
    )
    const rows = results.flatMap((row) => (row instanceof Problem ? [] : [row]))
    await insertAcknowledgements(tx, rows)
    const acknowledgements = await findAcknowledgements(
      tx,
      rows.map((row) => row.notification_id),
    )
    return results.map((row) => {
      if (row instanceof Problem) return row
      const acknowledgement = acknowledgements.get(row.notification_id)
      if (!acknowledgement) throw new Error('the acknowledgement that was just written is missing')
      return acknowledgement
    })
  },
}

interface NotificationRow {
  readonly notification_id: string
  readonly organization_id: string
  readonly event_id: string
}

function toRow(
  { caller, params, body, now }: Call<'acknowledgeNotification'>,
  notification: NotificationRow | undefined,
): AcknowledgementRow {
  // The same problem as for an unknown notification, so that ids cannot be probed.
  if (notification?.organization_id !== caller.organizationId) throw new Problem('resource_not_found')
  if (notification.event_id !== body.event_id)
    throw new Problem('acknowledgement_mismatch', { members: ['event_id'] })
  const acknowledgement = {
    notification_id: params.notification_id,
    event_id: body.event_id,
    disposition: body.disposition,
    acknowledged_at: now,
    last_contiguous_sequence: body.last_contiguous_sequence,
  }
  return {
    notification_id: params.notification_id,
    organization_id: caller.organizationId,
    body: acknowledgement,
    acknowledged_at: now,
  }
}

async function findNotifications(
  tx: Transaction,
  ids: readonly string[],
): Promise<Map<string, NotificationRow>> {
  const rows = await tx<NotificationRow[]>`
    select notification_id, organization_id, event_id from notification where notification_id = any(${[...ids]})`
  return new Map(rows.map((row) => [row.notification_id, row]))
}

async function findAcknowledgements(
  tx: Transaction,
  ids: readonly string[],
): Promise<Map<string, Acknowledgement>> {
  const rows = await tx<{ notification_id: string; body: string }[]>`
    select notification_id, body from notification_acknowledgement where notification_id = any(${[...ids]})`
  return new Map(rows.map((row) => [row.notification_id, JSON.parse(row.body) as Acknowledgement]))
}
