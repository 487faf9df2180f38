import { relativeTime, type Html } from '@agent-exchange/web'

/** A time of the API, as its distance from now. */
export function timeOf(at: string, now: Date): Html {
  return relativeTime(new Date(at), now)
}
