import { canonicalize } from '@agent-exchange/crypto'
import type { NotificationEnvelope } from '@agent-exchange/protocol'
import type { InboxEvent, IncomingEvent } from './inbox.ts'

/** The same text for the same notification, by webhook or poll. */
export function incoming(envelope: NotificationEnvelope): IncomingEvent {
  return {
    eventId: envelope.event_id,
    notificationId: envelope.notification_id,
    sequence: envelope.sequence,
    body: canonicalize(envelope),
  }
}

/** Stored notifications were validated before. */
export function envelopeOf({ body }: Pick<InboxEvent, 'body'>): NotificationEnvelope {
  return JSON.parse(body) as NotificationEnvelope
}
