/** How often something is measured. */
export interface Rounds {
  readonly most: number
  /** Also where they take long. */
  readonly least: number
  /** After this long no further one begins. */
  readonly limitMs: number
}

/** The same number of them, however long they take. */
export const exactly = (most: number): Rounds => ({ most, least: most, limitMs: Infinity })

/** Their numbers, from 1 on. */
export function* numbered(
  { most, least, limitMs }: Rounds,
  now = () => performance.now(),
): Generator<number> {
  const end = now() + limitMs
  for (let round = 1; round <= most && (round <= least || now() < end); round++) yield round
}
