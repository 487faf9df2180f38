import { randomFillSync } from 'node:crypto'

/** Makes identifiers with 128 random bits, which fit the protocol's tail pattern. */
export type NewId = (prefix: string) => string

const ID_BYTES = 16
/** Drawn at once: a draw of its own would cost most of what an id costs, and a package needs several. */
const pool = Buffer.alloc(256 * ID_BYTES)
let used = pool.length

export const randomId: NewId = (prefix) => {
  if (used === pool.length) {
    randomFillSync(pool)
    used = 0
  }
  const start = used
  used += ID_BYTES
  return `${prefix}_${pool.toString('hex', start, used)}`
}
