import { setTimeout as sleep } from 'node:timers/promises'

/** Waits for the work, for a limited time. False: it goes on. */
export async function withinTime(work: Promise<unknown>, limitMs: number): Promise<boolean> {
  const limit = new AbortController()
  const late = sleep(limitMs, false, { signal: limit.signal }).catch(() => false)
  try {
    return await Promise.race([work.then(() => true), late])
  } finally {
    limit.abort()
  }
}
