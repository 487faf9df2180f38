import type { EventSource, EventState, Gap, GapReason, InboxEvent } from '../receive/inbox.ts'

export const EVENT_COLUMNS =
  'event_id, sequence, notification_id, body, source, stored_at, state, attempts, reason, finished_at'

export interface EventRow {
  readonly event_id: string
  readonly sequence: number
  readonly notification_id: string
  readonly body: string
  readonly source: EventSource
  readonly stored_at: string
  readonly state: EventState
  readonly attempts: number
  readonly reason: string | null
  readonly finished_at: string | null
}

export function toEvent(row: EventRow): InboxEvent {
  return {
    eventId: row.event_id,
    sequence: row.sequence,
    notificationId: row.notification_id,
    body: row.body,
    source: row.source,
    storedAt: row.stored_at,
    state: row.state,
    attempts: row.attempts,
    ...(row.reason !== null && { reason: row.reason }),
    ...(row.finished_at !== null && { finishedAt: row.finished_at }),
  }
}

export interface GapRow {
  readonly first_sequence: number
  readonly last_sequence: number
  readonly reason: GapReason
  readonly noticed_at: string
}

export const toGap = (row: GapRow): Gap => ({
  firstSequence: row.first_sequence,
  lastSequence: row.last_sequence,
  reason: row.reason,
  noticedAt: row.noticed_at,
})
