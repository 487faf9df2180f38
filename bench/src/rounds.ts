/** The number of rounds of a measurement. */
export interface Rounds {
  readonly most: number
  /** The minimum, even if the time limit is exceeded. */
  readonly least: number
  /** No further round starts after this time. */
  readonly limitMs: number
}

/** A fixed number of rounds. */
export const exactly = (most: number): Rounds => ({ most, least: most, limitMs: Infinity })

/** The numbers of the rounds, starting at 1. */
export function* numbered(
  { most, least, limitMs }: Rounds,
  now = () => performance.now(),
): Generator<number> {
  const end = now() + limitMs
  for (let round = 1; round <= most && (round <= least || now() < end); round++) yield round
}
