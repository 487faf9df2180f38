import { ALIVE_SECONDS } from './process-liveness.ts'
import { toLiveProcess, type LiveProcess, type RegisteredProcess } from './live-processes.ts'

/** Between two reads. After a longer gap, the database may have been away, and with it all reports. */
const MAXIMUM_GAP_SECONDS = 15

/** Returns the registered processes that may still run. */
export type ProcessWatch = (registered: readonly RegisteredProcess[]) => LiveProcess[]

/** For a single read, which cannot show that a process is gone. */
export const countAllRegistered: ProcessWatch = (registered) => registered.map(toLiveProcess)

/**
 * A process is gone if its report has not changed during successive reads for as long as a process counts as alive. One
 * read is not enough: after a failover, every report is old. No two clocks are compared.
 */
export function createProcessWatch(monotonicMilliseconds: () => number): ProcessWatch {
  let unchanged = new Map<string, { readonly seenAt: string; readonly since: number }>()
  let lastRead = -Infinity
  return (registered) => {
    const now = monotonicMilliseconds()
    if (now - lastRead > MAXIMUM_GAP_SECONDS * 1_000) unchanged = new Map()
    lastRead = now
    unchanged = new Map(
      registered.map(({ process_id, seen_at: seenAt }) => {
        const before = unchanged.get(process_id)
        return [process_id, before?.seenAt === seenAt ? before : { seenAt, since: now }]
      }),
    )
    const isGone = ({ process_id }: RegisteredProcess) =>
      now - (unchanged.get(process_id)?.since ?? now) >= ALIVE_SECONDS * 1_000
    return registered.filter((each) => !isGone(each)).map(toLiveProcess)
  }
}
