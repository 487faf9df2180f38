import type { Acknowledgement } from '@agent-exchange/protocol'
import type { Transaction } from '../../db/database.ts'
import type { Mutation } from '../../kernel/call.ts'
import { Problem } from '../../kernel/problem.ts'
import { requireStreamAccess } from './stream-access.ts'

/** EVT-11: a consumer says that it has stored a notification. The first word counts; it is never taken back. */
export const acknowledgeNotification: Mutation<'acknowledgeNotification'> = {
  authorize: ({ caller, context }) => requireStreamAccess(caller, context),

  async run({ caller, params, body, now }, tx) {
    const [notification] = await tx<{ event_id: string }[]>`
      select event_id from notification
      where notification_id = ${params.notification_id} and organization_id = ${caller.organizationId}`
    if (!notification) throw new Problem('resource_not_found')
    if (notification.event_id !== body.event_id)
      throw new Problem('acknowledgement_mismatch', { members: ['event_id'] })
    const acknowledgement = {
      notification_id: params.notification_id,
      event_id: body.event_id,
      disposition: body.disposition,
      acknowledged_at: now,
      last_contiguous_sequence: body.last_contiguous_sequence,
    }
    const inserted = await tx`
      insert into notification_acknowledgement (notification_id, organization_id, body, acknowledged_at)
      values (${params.notification_id}, ${caller.organizationId}, ${JSON.stringify(acknowledgement)}, ${now})
      on conflict (notification_id) do nothing`
    return inserted.count === 1 ? acknowledgement : firstWord(tx, params.notification_id)
  },
}

async function firstWord(tx: Transaction, notificationId: string): Promise<Acknowledgement> {
  const [row] = await tx<{ body: string }[]>`
    select body from notification_acknowledgement where notification_id = ${notificationId}`
  if (!row) throw new Error('an acknowledgement that was in the way is gone')
  return JSON.parse(row.body) as Acknowledgement
}
