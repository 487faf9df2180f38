/**
 * One clock for all processes of this machine, in milliseconds: the system's monotonic clock, which steps of the wall
 * clock do not move.
 */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** A time of this process (`performance.now()`) by the shared clock. */
export function sharedTime(at: number): number {
  return at + sharedNow() - performance.now()
}
