export type Random = () => number

/** A seeded pseudo-random generator (mulberry32) with values in [0, 1). */
export function seeded(seed: number): Random {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let mixed = Math.imul(state ^ (state >>> 15), state | 1)
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61)
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32
  }
}

/** An interval of a Poisson process with this rate. */
export function exponential(random: Random, rate: number): number {
  return -Math.log(1 - random()) / rate
}
