/**
 * RFC 3339 times as exact instants. JavaScript's Date keeps milliseconds and normalizes impossible days, so a
 * comparison through it would call two different nanoseconds equal and 30 February valid.
 */
export interface Instant {
  /** Seconds since 1970-01-01T00:00:00Z, leap seconds not counted. */
  readonly seconds: number
  /** Digits after the decimal point, without trailing zeros. */
  readonly fraction: string
}

// RFC 3339 section 5.6; its note allows lower case `t` and `z`.
const DATE_TIME =
  /^(\d{4})-(\d{2})-(\d{2})[Tt](\d{2}):(\d{2}):(\d{2})(?:\.(\d+))?(?:[Zz]|([+-])(\d{2}):(\d{2}))$/

export function parseInstant(text: string): Instant | undefined {
  const match = DATE_TIME.exec(text)
  if (!match) return undefined
  const [year, month, day, hour, minute, second] = match.slice(1, 7).map(Number) as Six
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 60) return undefined
  const [offsetHours, offsetMinutes] = [Number(match[9] ?? 0), Number(match[10] ?? 0)]
  if (offsetHours > 23 || offsetMinutes > 59) return undefined

  const offset = (match[8] === '-' ? -1 : 1) * (offsetHours * 3_600 + offsetMinutes * 60)
  const seconds = daysSinceEpoch(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset
  // A leap second is the last second of a UTC day (RFC 3339 section 5.7), so the next one begins a day.
  if (second === 60 && seconds % 86_400 !== 0) return undefined
  return { seconds, fraction: (match[7] ?? '').replace(/0+$/, '') }
}

type Six = [number, number, number, number, number, number]

function daysIn(year: number, month: number): number {
  const leap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return [31, leap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
}

function daysSinceEpoch(year: number, month: number, day: number): number {
  const date = new Date(0)
  // Not Date.UTC: it reads the years 0 to 99 as 1900 to 1999.
  date.setUTCFullYear(year, month - 1, day)
  return date.getTime() / 86_400_000
}

/** Negative where `a` is earlier, 0 where they are the same instant, positive where `a` is later. */
export function compareInstants(a: Instant, b: Instant): number {
  if (a.seconds !== b.seconds) return a.seconds - b.seconds
  if (a.fraction === b.fraction) return 0
  return a.fraction < b.fraction ? -1 : 1
}

/** Whether `a` lies before `b`; undefined where either is no RFC 3339 time. */
export function isEarlier(a: unknown, b: unknown): boolean | undefined {
  const [first, second] = [a, b].map((time) => (typeof time === 'string' ? parseInstant(time) : undefined))
  return first && second && compareInstants(first, second) < 0
}
