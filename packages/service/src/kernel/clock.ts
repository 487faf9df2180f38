/** The one place that reads the time. Everything else is told what time it is. */
export interface Clock {
  /** UTC in milliseconds, such as 2026-03-02T08:00:00.000Z. */
  now(): string
  /** For measuring how long something took; unrelated to the calendar. */
  monotonicMilliseconds(): number
}

/** The text is made once a millisecond: under load it is asked for many times in each. */
let latest = { at: 0, text: '' }

export const systemClock: Clock = {
  now() {
    const at = Date.now()
    if (latest.at !== at) latest = { at, text: new Date(at).toISOString() }
    return latest.text
  },
  monotonicMilliseconds: () => performance.now(),
}

/** An instant that lies so many seconds after another one. */
export function secondsAfter(time: string, seconds: number): string {
  return new Date(Date.parse(time) + seconds * 1_000).toISOString()
}

export function secondsBetween(earlier: string, later: string): number {
  return (Date.parse(later) - Date.parse(earlier)) / 1_000
}

export const DAY_SECONDS = 86_400
