import { createHash, timingSafeEqual } from 'node:crypto'

/** Compares secrets in a time that depends neither on where they differ nor on their lengths. */
export function equalsInConstantTime(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
