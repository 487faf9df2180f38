import { setTimeout as sleep } from 'node:timers/promises'

/** Where a loop takes its time from, in milliseconds. */
export interface Time {
  now(): number
  sleep(milliseconds: number): Promise<unknown>
}

/** Timers have whole milliseconds and cannot wait for less than one. */
export const REAL_TIME: Time = {
  now: () => performance.now(),
  sleep: (milliseconds) => sleep(Math.max(1, milliseconds)),
}
