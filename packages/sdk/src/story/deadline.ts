import { dateOfInstant, parseInstant } from '@agent-exchange/protocol'
import type { Deadline } from './story-types.ts'

const DAY_MS = 86_400_000

/** Undefined for a text that is no RFC 3339 time. */
export function deadlineAt(text: string | undefined, now: Date): Deadline | undefined {
  const instant = text === undefined ? undefined : parseInstant(text)
  if (text === undefined || !instant) return undefined
  const distance = instant.seconds * 1_000 - now.getTime()
  return { at: text, isOverdue: distance < 0, days: Math.floor(Math.abs(distance) / DAY_MS) }
}

/** For sorting: the earlier deadline first. */
export function byDeadline(
  left: { readonly deadline: Deadline },
  right: { readonly deadline: Deadline },
): number {
  return timeOf(left.deadline.at) - timeOf(right.deadline.at)
}

function timeOf(instant: string): number {
  return dateOfInstant(instant)?.getTime() ?? 0
}

/** The day that follows an instant by a number of days, as YYYY-MM-DD in UTC; undefined beyond the calendar of Date. */
export function dayAfter(instant: string, days: number): string | undefined {
  const begin = dateOfInstant(instant)
  if (!begin) return undefined
  const at = new Date(begin.getTime() + days * DAY_MS)
  return Number.isNaN(at.getTime()) ? undefined : at.toISOString().slice(0, 10)
}
