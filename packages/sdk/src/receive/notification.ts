import { canonicalize } from '@agent-exchange/crypto'
import type { NotificationEnvelope } from '@agent-exchange/protocol'
import type { InboxEvent, IncomingEvent } from './inbox.ts'

/** The same text for the same notification, whichever way it came. */
export function incoming(envelope: NotificationEnvelope): IncomingEvent {
  return {
    eventId: envelope.event_id,
    notificationId: envelope.notification_id,
    sequence: envelope.sequence,
    body: canonicalize(envelope),
  }
}

/** What was checked before it was stored needs no second check. */
export function envelopeOf({ body }: Pick<InboxEvent, 'body'>): NotificationEnvelope {
  return JSON.parse(body) as NotificationEnvelope
}
