/** One thing that was looked at. */
export interface EvidenceCheck {
  readonly what: string
  readonly ok: boolean
  /** True where it holds and still calls for a look by a person, such as a key that was already stolen. */
  readonly doubt?: true
  readonly detail: string
  readonly packageId?: string
}

/** Something that no verifier can know from the evidence alone. */
export interface Unverifiable {
  readonly what: string
  readonly why: string
  readonly packageId?: string
}

export interface EvidenceReport {
  /** `broken`: something does not fit. `doubtful`: all fits, and something calls for a look. */
  readonly verdict: 'holds' | 'doubtful' | 'broken'
  readonly checks: readonly EvidenceCheck[]
  readonly unverifiable: readonly Unverifiable[]
  /** Where the chain ends; keep it, and give it as an anchor another time. */
  readonly chainEnd: { readonly position: number; readonly hash: string } | undefined
}

/** Collects findings while evidence is verified. */
export interface Findings {
  check(what: string, ok: boolean, detail: string, about?: { packageId?: string; doubt?: true }): void
  unverifiable(what: string, why: string, packageId?: string): void
  report(chainEnd: EvidenceReport['chainEnd']): EvidenceReport
}

export function createFindings(): Findings {
  const checks: EvidenceCheck[] = []
  const unverifiable: Unverifiable[] = []
  return {
    check: (what, ok, detail, about = {}) => void checks.push({ what, ok, detail, ...about }),
    unverifiable: (what, why, packageId) =>
      void unverifiable.push({ what, why, ...(packageId !== undefined && { packageId }) }),
    report(chainEnd) {
      const isBroken = checks.some(({ ok }) => !ok)
      const isDoubtful = checks.some(({ doubt }) => doubt)
      const verdict = isBroken ? 'broken' : isDoubtful ? 'doubtful' : 'holds'
      return { verdict, checks, unverifiable, chainEnd }
    },
  }
}
