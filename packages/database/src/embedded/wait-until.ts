import { setTimeout as sleep } from 'node:timers/promises'

const STEP_MS = 20

/** Asks again and again until the condition holds or the limit has passed; says which. */
export async function waitUntil(condition: () => boolean, limitMs: number): Promise<boolean> {
  for (let waited = 0; waited <= limitMs; waited += STEP_MS) {
    if (condition()) return true
    await sleep(STEP_MS)
  }
  return condition()
}
