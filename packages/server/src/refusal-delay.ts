import { setTimeout as sleep } from 'node:timers/promises'

const DELAY_MS = 1_000
/** Answers that are held back at the same time. */
const MAXIMUM_HELD = 1_024

/** Resolves when a refused token may be answered; false: the connection has to end with the answer. */
export type RefusalDelay = (address: string) => Promise<boolean>

/**
 * An address that sends many missing or invalid tokens gets its answers late, so that its connections cannot keep the
 * event loop busy. No valid token is refused or delayed: another client may share the address.
 *
 * @param isWithinRate counts a refusal of the address
 */
export function delayRefusals(
  isWithinRate: (address: string) => boolean,
  { delayMs = DELAY_MS, maximumHeld = MAXIMUM_HELD } = {},
): RefusalDelay {
  let held = 0
  return async (address) => {
    if (isWithinRate(address)) return true
    if (held >= maximumHeld) return false
    held += 1
    await sleep(delayMs, undefined, { ref: false })
    held -= 1
    return true
  }
}
