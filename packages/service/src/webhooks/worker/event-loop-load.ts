import { eventLoopUtilization } from 'node:perf_hooks'

const BUSY_UTILIZATION = 0.9
/** The shortest interval to measure utilization over: shorter ones are noise. */
export const LOAD_SAMPLE_MS = 40

/** Tells whether the event loop is saturated. Slow responses may then be the fault of this process. */
export function watchEventLoopLoad(): () => boolean {
  let sampleStart = eventLoopUtilization()
  let utilization = 0
  return () => {
    const sample = eventLoopUtilization(sampleStart)
    if (sample.active + sample.idle >= LOAD_SAMPLE_MS) {
      utilization = sample.utilization
      sampleStart = eventLoopUtilization()
    }
    return utilization > BUSY_UTILIZATION
  }
}
