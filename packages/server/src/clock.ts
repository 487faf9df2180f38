/** Only this file reads the time; everything else gets it as an argument. */
export interface Clock {
  /** UTC in milliseconds, such as 2026-03-02T08:00:00.000Z. */
  now(): string
  /** For durations; unrelated to the calendar. */
  monotonicMilliseconds(): number
}

/** Formatted once per millisecond: under load `now` is called many times in each. */
let latest = { at: 0, text: '' }

export const systemClock: Clock = {
  now() {
    const at = Date.now()
    if (latest.at !== at) latest = { at, text: new Date(at).toISOString() }
    return latest.text
  },
  monotonicMilliseconds: () => performance.now(),
}

export function secondsAfter(time: string, seconds: number): string {
  return new Date(Date.parse(time) + seconds * 1_000).toISOString()
}

export function secondsBetween(earlier: string, later: string): number {
  return (Date.parse(later) - Date.parse(earlier)) / 1_000
}

export const DAY_SECONDS = 86_400
