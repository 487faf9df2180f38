import { randomFillSync } from 'node:crypto'

/** Makes identifiers with 128 random bits, which fit the protocol's tail pattern. */
export type NewId = (prefix: string) => string

const ID_BYTES = 16
/** Drawn at once: a draw of its own would cost most of what an id costs, and a package needs several. */
const pool = Buffer.alloc(256 * ID_BYTES)
let used = pool.length

export const randomId: NewId = (prefix) => `${prefix}_${drawHex(ID_BYTES)}`

const TIME_DIGITS = 12
const TAIL_BYTES = ID_BYTES - TIME_DIGITS / 2

/** The time and 80 random bits: what is made together lies together in an index, which is written less for it. */
export function orderedId(prefix: string, time: string): string {
  return startOfIds(prefix, time) + drawHex(TAIL_BYTES)
}

/** All ordered ids of that time and later are greater, all of earlier times smaller. */
export function startOfIds(prefix: string, time: string): string {
  return `${prefix}_${Date.parse(time).toString(16).padStart(TIME_DIGITS, '0')}`
}

function drawHex(bytes: number): string {
  if (used + bytes > pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const start = used
  used += bytes
  return pool.toString('hex', start, used)
}
