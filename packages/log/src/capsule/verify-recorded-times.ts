import type { About, Checks } from '../verdict/check.ts'
import { MAXIMUM_LOGGING_DELAY_SECONDS } from './capsule-format.ts'
import type { OpenedLog } from './open-log.ts'

/** How far a recorded time may lie outside of what cosigned checkpoints before and after its leaf allow. */
const TOLERANCE_SECONDS = 600

/** An entry and the leaf that holds it. */
export interface RecordedLeaf {
  readonly about: About
  readonly recordedAt: string
  readonly index: number
}

/**
 * Every recorded time lies between the last cosigned checkpoint without the leaf and the first one with it. Outside of
 * the tolerance, the time is only the exchange's word; more than a day outside, it is a contradiction, unless the record
 * may be one from before the log: those are its first leaves, however old they are. Without a checkpoint from before, a time
 * that is too early is not found, and the verdict says so.
 */
export function verifyRecordedTimes(
  recorded: Iterable<RecordedLeaf>,
  { log, mayPrecedeLog = false }: { readonly log: OpenedLog; readonly mayPrecedeLog?: boolean },
  checks: Checks,
): void {
  const unbounded: About[] = []
  for (const { about, recordedAt, index } of recorded) {
    const { after, before } = log.boundsOf(index)
    if (after === undefined) unbounded.push(about)
    const time = Date.parse(recordedAt)
    const early = after === undefined ? 0 : Date.parse(after) - time
    const late = before === undefined ? 0 : time - Date.parse(before)
    const seconds = Math.max(early, late) / 1_000
    if (seconds <= TOLERANCE_SECONDS) continue
    const values = {
      fault: early > late ? 'too_early' : 'too_late',
      recorded_at: recordedAt,
      ...(after !== undefined && { after }),
      ...(before !== undefined && { before }),
    } as const
    const isRefuted = !(seconds <= MAXIMUM_LOGGING_DELAY_SECONDS || mayPrecedeLog)
    checks.add('recorded_time', isRefuted ? 'fails' : 'unproved', { ...about, values })
  }
  verifyEarlierCheckpoints(unbounded, checks)
}

/** Once for each package: entries without a lower bound come first in it, since later leaves have later checkpoints. */
function verifyEarlierCheckpoints(unbounded: readonly About[], checks: Checks): void {
  for (const [, entries] of Map.groupBy(unbounded, ({ package_id }) => package_id)) {
    const [first, last] = [entries[0], entries.at(-1)]
    if (first?.position !== undefined && last?.position !== undefined)
      checks.unproved('earlier_checkpoint', {
        ...first,
        values: { last_position: last.position, entries: entries.length },
      })
  }
  if (unbounded.length === 0) checks.holds('earlier_checkpoint')
}
