import { createHash, timingSafeEqual } from 'node:crypto'

/** Compares secrets in a time that depends neither on where they differ nor on their lengths. */
export function equalsInConstantTime(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}
