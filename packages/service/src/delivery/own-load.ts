import { eventLoopUtilization } from 'node:perf_hooks'
import { BUSY_UTILIZATION, LOAD_SAMPLE_MS } from './limits.ts'

/** Whether this process itself has been busy all the time lately: then what takes long may be its own doing. */
export function watchOwnLoad(): () => boolean {
  let from = eventLoopUtilization()
  let utilization = 0
  return () => {
    const past = eventLoopUtilization(from)
    if (past.active + past.idle >= LOAD_SAMPLE_MS) {
      utilization = past.utilization
      from = eventLoopUtilization()
    }
    return utilization > BUSY_UTILIZATION
  }
}
