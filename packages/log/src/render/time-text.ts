import type { Reader } from './reader.ts'

const LOCALE = 'en-GB'
const DAY = { day: 'numeric', month: 'long', year: 'numeric' } as const
const MINUTE = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const

/** The day in the reader's time zone, and in UTC where that is another one. */
export function dayText(time: string, reader: Reader): string {
  const own = day(time, reader.timeZone)
  const utc = day(time, 'UTC')
  if (own === undefined || utc === undefined) return time
  return own === utc ? own : `${own} (${utc} UTC)`
}

/** Whether two times are on one day of the reader. */
export function isSameDay(first: string, second: string, { timeZone }: Reader): boolean {
  const found = day(first, timeZone)
  return found !== undefined && found === day(second, timeZone)
}

/** Day and minute in the reader's time zone, and in UTC. */
export function timeText(time: string, { timeZone }: Reader): string {
  const own = minute(time, timeZone)
  const utc = minute(time, 'UTC')
  if (own === undefined || utc === undefined) return time
  const [ownDay, utcDay] = [day(time, timeZone), day(time, 'UTC')]
  if (own === utc && ownDay === utcDay) return `${utcDay}, ${utc} UTC`
  return `${ownDay}, ${own} (${ownDay === utcDay ? '' : `${utcDay}, `}${utc} UTC)`
}

function day(time: string, timeZone: string | undefined): string | undefined {
  return formatted(time, { ...DAY, ...(timeZone !== undefined && { timeZone }) })
}

function minute(time: string, timeZone: string | undefined): string | undefined {
  return formatted(time, { ...MINUTE, ...(timeZone !== undefined && { timeZone }) })
}

/** Undefined for a text that is no time: a capsule may claim anything. */
function formatted(time: string, options: Intl.DateTimeFormatOptions): string | undefined {
  const at = Date.parse(time)
  return Number.isNaN(at) ? undefined : new Intl.DateTimeFormat(LOCALE, options).format(at)
}
