import { median } from './statistics.ts'

/** The time limit of a measurement. */
export interface Effort {
  readonly repetitions: number
  readonly milliseconds: number
}

const FULL: Effort = { repetitions: 5, milliseconds: 500 }
const QUICK: Effort = { repetitions: 3, milliseconds: 60 }

export const effortOf = (quick: boolean): Effort => (quick ? QUICK : FULL)

/** Calls per second: the median of the repetitions after a warm-up. */
export async function measure(call: () => unknown, effort: Effort, inFlight = 1): Promise<number> {
  await repeat(call, effort.milliseconds / 2, inFlight)
  const rates: number[] = []
  for (let i = 0; i < effort.repetitions; i++) rates.push(await repeat(call, effort.milliseconds, inFlight))
  return median(rates)
}

/** Calls per second at a given concurrency. */
export async function repeat(call: () => unknown, milliseconds: number, inFlight: number): Promise<number> {
  const start = performance.now()
  const end = start + milliseconds
  let calls = 0
  const lane = async (): Promise<void> => {
    while (performance.now() < end) {
      await call()
      calls++
    }
  }
  await Promise.all(Array.from({ length: inFlight }, lane))
  return (calls * 1_000) / (performance.now() - start)
}
