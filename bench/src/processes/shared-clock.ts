/**
 * The monotonic clock of the system, in milliseconds. All processes of this machine share it, and changes of the wall clock
 * do not affect it.
 */
export function sharedNow(): number {
  return Number(process.hrtime.bigint()) / 1e6
}

/** A time of this process (`performance.now()`) by the shared clock. */
export function sharedTime(at: number): number {
  return at + sharedNow() - performance.now()
}
