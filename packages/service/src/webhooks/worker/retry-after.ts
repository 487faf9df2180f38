import { MAXIMUM_RETRY_AFTER_SECONDS } from '@agent-exchange/protocol'

const SECONDS = /^\d+$/
const TIME = '(\\d\\d):(\\d\\d):(\\d\\d)'
const MONTHS = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec']
const MONTH = `(${MONTHS.join('|')})`
const SHORT_DAY = '(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)'
const LONG_DAY = '(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day'

/** RFC 9110 section 5.6.7: the preferred form, and the two obsolete ones that recipients still accept. */
const IMF_FIXDATE = new RegExp(`^${SHORT_DAY}, (\\d\\d) ${MONTH} (\\d{4}) ${TIME} GMT$`)
const RFC_850 = new RegExp(`^${LONG_DAY}, (\\d\\d)-${MONTH}-(\\d\\d) ${TIME} GMT$`)
const ASCTIME = new RegExp(`^${SHORT_DAY} ${MONTH} ([ \\d]\\d) ${TIME} (\\d{4})$`)

/**
 * The delay of a Retry-After field (RFC 9110 section 10.2.3) in seconds, limited to the protocol's 24 hours.
 * Undefined if the field cannot be parsed.
 */
export function retryAfterSeconds(value: string | undefined, now: string): number | undefined {
  const text = value?.trim() ?? ''
  const seconds = SECONDS.test(text) ? Number(text) : untilDate(text, Date.parse(now))
  if (seconds === undefined) return undefined
  return Math.min(Math.max(seconds, 0), MAXIMUM_RETRY_AFTER_SECONDS)
}

function untilDate(text: string, now: number): number | undefined {
  const time = httpDate(text, now)
  return time === undefined ? undefined : (time - now) / 1_000
}

function httpDate(text: string, now: number): number | undefined {
  const fixed = IMF_FIXDATE.exec(text)
  if (fixed) {
    const [, day, month, year, ...time] = fixed
    return instant(year, month, day, time)
  }
  const obsolete = RFC_850.exec(text)
  if (obsolete) {
    const [, day, month, year, ...time] = obsolete
    return instant(String(fullYear(Number(year), now)), month, day, time)
  }
  const [matched, month, day, hours = '', minutes = '', seconds = '', year] = ASCTIME.exec(text) ?? []
  return matched === undefined ? undefined : instant(year, month, day, [hours, minutes, seconds])
}

/** RFC 9110 section 5.6.7: a two-digit year more than 50 years ahead belongs to the previous century. */
function fullYear(lastDigits: number, now: number): number {
  const thisYear = new Date(now).getUTCFullYear()
  const year = thisYear - (thisYear % 100) + lastDigits
  return year > thisYear + 50 ? year - 100 : year
}

function instant(
  year: string | undefined,
  month: string | undefined,
  day: string | undefined,
  time: readonly string[],
): number | undefined {
  const [hours, minutes, seconds] = time.map(Number)
  const monthIndex = MONTHS.indexOf(month ?? '')
  const dayNumber = Number(day)
  const date = new Date(Date.UTC(Number(year), monthIndex, dayNumber, hours, minutes, seconds))
  // A date that rolls over into another month, such as 31 February, is invalid. A leap second may roll over.
  const isReal = date.getUTCMonth() === monthIndex || seconds === 60
  return isReal && dayNumber > 0 && (hours ?? 0) < 24 && (minutes ?? 0) < 60 ? date.getTime() : undefined
}
