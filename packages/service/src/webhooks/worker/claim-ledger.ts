import { RESULT_BATCH_SIZE } from './webhook-limits.ts'

/** Tracks which of this worker's claims still have unfinished deliveries and which can be removed. */
export function createClaimLedger() {
  const open = new Map<number, { unfinished: number; isComplete: boolean }>()
  const finished: number[] = []

  function settle(claimId: number, isComplete: boolean): void {
    const claim = open.get(claimId)
    if (!claim) return
    claim.unfinished--
    claim.isComplete &&= isComplete
    if (claim.unfinished > 0) return
    open.delete(claimId)
    // A claim with an unrecorded delivery stays in the table until it is reclaimed.
    if (claim.isComplete) finished.push(claimId)
  }

  return {
    open: (claimId: number, deliveries: number) =>
      open.set(claimId, { unfinished: deliveries, isComplete: true }),
    openIds: () => [...open.keys()],
    /** One of its deliveries was recorded or released. */
    settled: (claimId: number) => settle(claimId, true),
    /** One of its deliveries cannot be recorded. */
    dropped: (claimId: number) => settle(claimId, false),
    takeFinished: () => finished.splice(0, RESULT_BATCH_SIZE),
    returnFinished: (claimIds: readonly number[]) => void finished.push(...claimIds),
  }
}
