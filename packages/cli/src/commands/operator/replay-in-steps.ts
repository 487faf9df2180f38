import { CommandFailure } from '../../failure.ts'
import { change } from './operator-api.ts'

const MAXIMUM_STEPS = 10_000

/** Replays in bounded steps until nothing is left. Returns the number of replays. */
export async function replayInSteps(
  path: string,
  body: object,
  progress: (sum: number) => void,
): Promise<number> {
  let sum = 0
  for (let step = 0; step < MAXIMUM_STEPS; step++) {
    const { replayed } = await change(path, body)
    if (typeof replayed !== 'number')
      throw new CommandFailure('The exchange does not say how many it replayed.')
    if (replayed === 0) return sum
    sum += replayed
    progress(sum)
  }
  throw new CommandFailure(`${sum} were replayed, and there are more. Run it again to go on.`)
}
