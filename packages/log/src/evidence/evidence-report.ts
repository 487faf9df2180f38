import type { PackageState } from '@agent-exchange/protocol'
import type { Check, Checks, ExchangeClaim } from '../verdict/check.ts'

/** Whose key it is. */
export interface Signer {
  readonly agentId: string
  readonly organizationId: string
  readonly keyId: string
}

/** How far a package came: as the exchange recorded it, and as far as signatures prove it. */
export interface ProvedState {
  readonly packageId: string
  readonly state: PackageState
  /** The furthest state that a verified signature proves; undefined where none does. */
  readonly signedState: PackageState | undefined
}

export interface EvidenceReport {
  /** `broken`: something contradicts or lacks its signature. `doubtful`: all fits, and something calls for a look. */
  readonly verdict: 'holds' | 'doubtful' | 'broken'
  readonly states: readonly ProvedState[]
  readonly checks: readonly Check[]
  readonly exchangeClaims: readonly ExchangeClaim[]
  /** Where the chain ends; keep it, and give it as an anchor another time. */
  readonly chainEnd: { readonly position: number; readonly hash: string } | undefined
}

export function reportOf(
  { all: checks, claims: exchangeClaims }: Checks,
  states: readonly ProvedState[],
  chainEnd?: EvidenceReport['chainEnd'],
): EvidenceReport {
  const isBroken = checks.some(({ result }) => result === 'fails')
  const isDoubtful = checks.some(({ result }) => result === 'doubt')
  const verdict = isBroken ? 'broken' : isDoubtful ? 'doubtful' : 'holds'
  return { verdict, states, checks, exchangeClaims, chainEnd }
}
