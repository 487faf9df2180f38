import { randomFillSync } from 'node:crypto'

/** Makes identifiers with 128 random bits, in the form that the protocol requires. */
export type NewId = (prefix: string) => string

const ID_BYTES = 16
/** Random bytes for many ids: one system call per id would be most of the cost of an id. */
const pool = Buffer.alloc(256 * ID_BYTES)
let used = pool.length

export const randomId: NewId = (prefix) => `${prefix}_${drawHex(ID_BYTES)}`

/** Hexadecimal digits of an ordered id: milliseconds since 1970, then random ones. SQL that derives ids uses them too. */
export const TIME_DIGITS = 12
export const RANDOM_DIGITS = 2 * ID_BYTES - TIME_DIGITS

/** The time and 80 random bits: new ids are adjacent in an index, so inserts touch few of its pages. */
export function orderedId(prefix: string, time: string): string {
  return startOfIds(prefix, time) + drawHex(RANDOM_DIGITS / 2)
}

/** Lower bound of the ordered ids of that time and later. */
export function startOfIds(prefix: string, time: string): string {
  return `${prefix}_${Date.parse(time).toString(16).padStart(TIME_DIGITS, '0')}`
}

/** The time in an ordered id; undefined for any other text. */
export function timeOfId(prefix: string, id: string): string | undefined {
  const [, digits] = ORDERED_ID.exec(id.startsWith(`${prefix}_`) ? id.slice(prefix.length) : '') ?? []
  const time = digits === undefined ? Number.NaN : Number.parseInt(digits, 16)
  return time <= LAST_TIME ? new Date(time).toISOString() : undefined
}

const ORDERED_ID = new RegExp(`^_([0-9a-f]{${TIME_DIGITS}})[0-9a-f]{${RANDOM_DIGITS}}$`, 'u')
/** The end of the year 9999: later times have another form. */
const LAST_TIME = Date.UTC(9_999, 11, 31, 23, 59, 59)

function drawHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const start = used
  used += bytes
  return pool.toString('hex', start, used)
}
