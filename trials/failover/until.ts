import { setTimeout as sleep } from 'node:timers/promises'

const POLL_MS = 200

/** Polls until the condition holds. A failure counts as not yet. */
export async function until(
  what: string,
  limitMs: number,
  condition: () => Promise<boolean> | boolean,
): Promise<void> {
  const started = performance.now()
  let last: unknown
  for (;;) {
    try {
      if (await condition()) return
    } catch (error) {
      last = error
    }
    if (performance.now() - started > limitMs)
      throw new Error(`${what}: not within ${limitMs / 1_000} s`, { cause: last })
    await sleep(POLL_MS)
  }
}
