import { REMOVED_CLAIMS } from './limits.ts'

/** Which of this worker's claims have something under way, and which can be removed. */
export function createClaimLedger() {
  const open = new Map<number, { left: number; isWhole: boolean }>()
  const finished: number[] = []

  function settle(claimId: number, isWhole: boolean): void {
    const claim = open.get(claimId)
    if (!claim) return
    claim.left--
    claim.isWhole &&= isWhole
    if (claim.left > 0) return
    open.delete(claimId)
    // One with a delivery that could not be recorded stays in the table, and is taken back from there.
    if (claim.isWhole) finished.push(claimId)
  }

  return {
    open: (claimId: number, deliveries: number) => open.set(claimId, { left: deliveries, isWhole: true }),
    openIds: () => [...open.keys()],
    /** One of its deliveries was recorded or given back. */
    settled: (claimId: number) => settle(claimId, true),
    /** One of them was not, and will not be. */
    dropped: (claimId: number) => settle(claimId, false),
    takeFinished: () => finished.splice(0, REMOVED_CLAIMS),
  }
}
