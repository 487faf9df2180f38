import { setTimeout as sleep } from 'node:timers/promises'

type Found<T> = Exclude<Awaited<T>, undefined | null | false | 0 | ''>

export interface Patience {
  readonly limitMs?: number
  readonly pollMs?: number
}

/** Polls until `look` gives something, and returns it. A failure counts as not yet. */
export async function until<T>(
  what: string,
  look: () => T,
  { limitMs = 30_000, pollMs = 10 }: Patience = {},
): Promise<Found<T>> {
  const started = performance.now()
  let cause: unknown
  for (;;) {
    try {
      const found = await look()
      if (found) return found as Found<T>
      cause = undefined
    } catch (error) {
      cause = error
    }
    if (performance.now() - started > limitMs)
      throw new Error(`not within ${limitMs / 1_000} s: ${what}`, { cause })
    await sleep(pollMs)
  }
}
