import { exponential, type Random } from '../random.ts'

/** When requests are due, in milliseconds from the start of a run: ascending, without end. */
export type Schedule = Iterable<number>

/** Equal gaps. */
export function* steadySchedule(perSecond: number): Generator<number> {
  for (let sent = 0; ; sent++) yield (sent * 1_000) / perSecond
}

/** A Poisson process: exponentially distributed gaps, as of many independent clients. */
export function* poissonSchedule(perSecond: number, random: Random): Generator<number> {
  for (let at = 0; ;) {
    at += exponential(random, perSecond) * 1_000
    yield at
  }
}
