import type { ThreadEntry } from '../evidence/evidence-bundle.ts'
import { MAXIMUM_LOGGING_DELAY_SECONDS } from './capsule-format.ts'
import type { CapsuleFindings } from './capsule-result.ts'
import type { OpenedLog } from './open-log.ts'
import type { EntryLeaves } from './verify-chain-records.ts'

/** How far a recorded time may lie outside of what cosigned checkpoints before and after its leaf allow. */
export const RECORDED_TIME_TOLERANCE_SECONDS = 600

/**
 * Every recorded time lies between the last cosigned checkpoint without the leaf and the first one with it. Outside of
 * the tolerance, the time is only the exchange's word; more than a day outside, it is a contradiction.
 */
export function verifyRecordedTimes(
  entries: readonly ThreadEntry[],
  { leaves, log }: { readonly leaves: EntryLeaves; readonly log: OpenedLog },
  findings: CapsuleFindings,
): void {
  for (const { position, proof } of entries) {
    const index = leaves.get(position)
    if (index === undefined) continue
    const { after, before } = log.boundsOf(index)
    const recorded = Date.parse(proof.recorded_at)
    const early = after === undefined ? 0 : Date.parse(after) - recorded
    const late = before === undefined ? 0 : recorded - Date.parse(before)
    const seconds = Math.max(early, late) / 1_000
    if (Number.isNaN(seconds) || seconds > MAXIMUM_LOGGING_DELAY_SECONDS)
      findings.fail(
        'recorded_time',
        `Witnesses refute the time at which entry ${position} was recorded, ${proof.recorded_at}.`,
        { position },
      )
    else if (seconds > RECORDED_TIME_TOLERANCE_SECONDS)
      findings.leaveToExchange(
        `whether entry ${position} was recorded at ${proof.recorded_at}`,
        `Witnesses saw the log ${early > late ? 'without it later' : 'with it earlier'} by more than ${RECORDED_TIME_TOLERANCE_SECONDS} seconds.`,
        { position },
      )
  }
}
