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
function* numbered({ most, least, limitMs }: Rounds, now: () => number): Generator<number> {
  const end = now() + limitMs
  for (let round = 1; round <= most && (round <= least || now() < end); round++) yield round
}

export interface Contender {
  readonly id: string
  readonly label: string
}

export interface Turns<C extends Contender, Measured> {
  readonly rounds: Rounds
  readonly measure: (contender: C, round: number) => Promise<Measured>
  /** Shows a measurement. */
  readonly progress: (what: string) => void
  readonly show: (measured: Measured) => string
  /** If true, an additional first round is discarded. */
  readonly isWarm?: boolean
  readonly now?: () => number
}

/**
 * Measures all contenders in each round, so that a disturbance of the machine affects all of them. The order alternates, so
 * that none of them always inherits the background work of the same predecessor.
 */
export async function inTurns<C extends Contender, Measured>(
  contenders: readonly C[],
  { rounds, measure, progress, show, isWarm = false, now = () => performance.now() }: Turns<C, Measured>,
): Promise<Map<string, Measured[]>> {
  const results = new Map<string, Measured[]>(contenders.map(({ id }) => [id, []]))
  const everyone = async (round: number) => {
    for (const contender of round % 2 === 0 ? contenders.toReversed() : contenders) {
      const measured = await measure(contender, round)
      if (round > 0) results.get(contender.id)?.push(measured)
      progress(`${round}/${rounds.most} ${contender.label}: ${show(measured)}`)
    }
  }
  if (!isWarm) await everyone(0)
  for (const round of numbered(rounds, now)) await everyone(round)
  return results
}
