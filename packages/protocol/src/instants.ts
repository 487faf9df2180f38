/**
 * RFC 3339 times as exact instants. Date has a precision of milliseconds and normalizes impossible days, so it would
 * treat two different nanoseconds as equal and 30 February as valid.
 */
export interface Instant {
  /** Seconds since 1970-01-01T00:00:00Z, leap seconds not counted. */
  readonly seconds: number
  /** Digits after the decimal point, without trailing zeros. */
  readonly fraction: string
}

// RFC 3339 section 5.6; its note allows lower case `t` and `z`.
const DATE_TIME = /^\d{4}-\d{2}-\d{2}[Tt]\d{2}:\d{2}:\d{2}(?:\.\d+)?(?:[Zz]|[+-]\d{2}:\d{2})$/
const DOT = 0x2e
const MINUS = 0x2d
const FRACTION_START = 20
const OFFSET_LENGTH = '+00:00'.length

/** The grammar fixes all positions, so fields are read by offset, which is faster than capture groups. */
export function parseInstant(text: string): Instant | undefined {
  if (!DATE_TIME.test(text)) return undefined
  const [year, month, day] = [numberAt(text, 0, 4), numberAt(text, 5), numberAt(text, 8)]
  const [hour, minute, second] = [numberAt(text, 11), numberAt(text, 14), numberAt(text, 17)]
  if (month < 1 || month > 12 || day < 1 || day > daysIn(year, month)) return undefined
  if (hour > 23 || minute > 59 || second > 60) return undefined
  const hasOffset = !/[Zz]$/.test(text)
  const zone = text.length - (hasOffset ? OFFSET_LENGTH : 1)
  const offset = hasOffset ? offsetAt(text, zone) : 0
  if (offset === undefined) return undefined

  const seconds = daysSinceEpoch(year, month, day) * 86_400 + hour * 3_600 + minute * 60 + second - offset
  // A leap second is the last second of a UTC day (RFC 3339 section 5.7), so the next second starts a day.
  if (second === 60 && seconds % 86_400 !== 0) return undefined
  return { seconds, fraction: text.charCodeAt(19) === DOT ? fractionIn(text, zone) : '' }
}

function numberAt(text: string, start: number, digits = 2): number {
  let value = 0
  for (let i = start; i < start + digits; i++) value = value * 10 + text.charCodeAt(i) - 0x30
  return value
}

/** In seconds; undefined if the offset is out of range. */
function offsetAt(text: string, start: number): number | undefined {
  const [hours, minutes] = [numberAt(text, start + 1), numberAt(text, start + 4)]
  if (hours > 23 || minutes > 59) return undefined
  return (text.charCodeAt(start) === MINUS ? -1 : 1) * (hours * 3_600 + minutes * 60)
}

function fractionIn(text: string, zone: number): string {
  let end = zone
  while (text.charCodeAt(end - 1) === 0x30) end--
  return text.slice(FRACTION_START, end)
}

const DAYS = [31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]

function daysIn(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return month === 2 && isLeap ? 29 : (DAYS[month - 1] ?? 0)
}

/** The calendar repeats after 400 years. Date.UTC maps the years 0 to 99 to 1900 to 1999. */
function daysSinceEpoch(year: number, month: number, day: number): number {
  return Date.UTC(year + 400, month - 1, day) / 86_400_000 - 146_097
}

/**
 * The instant as a Date, to the millisecond; undefined for a text that is no RFC 3339 time. `new Date(text)` is invalid
 * for a leap second, and accepts texts that are no RFC 3339 times.
 */
export function dateOfInstant(text: string): Date | undefined {
  const instant = parseInstant(text)
  return instant && new Date(instant.seconds * 1_000 + Number(instant.fraction.slice(0, 3).padEnd(3, '0')))
}

/** Negative if `a` is earlier, 0 if they are equal, positive if `a` is later. */
export function compareInstants(a: Instant, b: Instant): number {
  if (a.seconds !== b.seconds) return a.seconds - b.seconds
  if (a.fraction === b.fraction) return 0
  return a.fraction < b.fraction ? -1 : 1
}

/** Whether `a` is before `b`; undefined if either is not an RFC 3339 time. */
export function isEarlier(a: unknown, b: unknown): boolean | undefined {
  const first = typeof a === 'string' ? parseInstant(a) : undefined
  const second = typeof b === 'string' ? parseInstant(b) : undefined
  return first && second && compareInstants(first, second) < 0
}
