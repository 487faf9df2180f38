import { setTimeout as sleep } from 'node:timers/promises'

/** The clock of a loop, in milliseconds. */
export interface Time {
  now(): number
  sleep(milliseconds: number): Promise<unknown>
}

/** Timers have a resolution of one millisecond. */
export const REAL_TIME: Time = {
  now: () => performance.now(),
  sleep: (milliseconds) => sleep(Math.max(1, milliseconds)),
}
