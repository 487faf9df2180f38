import type { LoopThread } from '@agent-exchange/protocol'
import type { Answers } from './answers.ts'
import type { CountedPackage } from './readable-package.ts'
import type { LoopStanding } from './story-types.ts'

/** The phase as companies state it. The specification shows no transitions (O-02), so none is derived. */
export function loopStanding(
  threads: readonly CountedPackage<LoopThread>[],
  counted: readonly CountedPackage[],
  answers: Answers,
): LoopStanding {
  const shown = answers.responses.length > 0 ? 'responded' : counted.length > 0 ? 'shared' : undefined
  return {
    stated: threads
      .map(({ object, source }) => ({
        phase: object.phase,
        next: object.lifecycle.allowed_next_phases,
        source,
      }))
      .toReversed(),
    ...(shown && { shown }),
  }
}
