import type { PackageState } from '@agent-exchange/protocol'
import { summarize } from './summarize.ts'

/** What a finding is about. */
export interface Subject {
  readonly packageId?: string
  /** Of the entry in the chain. */
  readonly position?: number
}

/** Whose signature a check verified. */
export interface Signer {
  readonly agentId: string
  readonly organizationId: string
  readonly keyId: string
}

/** One thing that was verified. */
export interface EvidenceCheck extends Subject {
  readonly what: string
  readonly ok: boolean
  /** True where it holds and still calls for a look by a person, such as a key that was already stolen. */
  readonly doubt?: true
  readonly detail: string
  /** Present where the check verified a signature. */
  readonly signedBy?: Signer
  /** Present where the platform says that it verified a signature by this key, which is not in the evidence. */
  readonly acceptedKey?: Signer
}

/** A claim that the exchange makes and nobody signed, with its value: it may be true, and evidence does not prove it. */
export interface ExchangeWord extends Subject {
  readonly what: string
  readonly value: unknown
}

/** Something that no verifier can know from the evidence alone. */
export interface Unverifiable {
  readonly what: string
  readonly why: string
  readonly packageId?: string
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
  /** The verdict in sentences: what rests on signatures, and what only the exchange says. */
  readonly summary: string
  readonly states: readonly ProvedState[]
  readonly checks: readonly EvidenceCheck[]
  readonly exchangeWord: readonly ExchangeWord[]
  readonly unverifiable: readonly Unverifiable[]
  /** Where the chain ends; keep it, and give it as an anchor another time. */
  readonly chainEnd: { readonly position: number; readonly hash: string } | undefined
}

/** Collects findings while evidence is verified. */
export interface Findings {
  check(
    what: string,
    ok: boolean,
    detail: string,
    about?: Subject & {
      readonly doubt?: true | undefined
      readonly signedBy?: Signer
      readonly acceptedKey?: Signer
    },
  ): void
  word(what: string, value: unknown, about?: Subject): void
  unverifiable(what: string, why: string, packageId?: string): void
  state(state: ProvedState): void
  report(chainEnd: EvidenceReport['chainEnd']): EvidenceReport
}

/** So many faults decide the verdict. A hostile file must not make a verifier look for more. */
export const MAXIMUM_FAULTS = 100

/** Ends a verification whose verdict is decided. Never leaves the package. */
export class VerdictReached extends Error {}

export function createFindings(): Findings {
  const checks: EvidenceCheck[] = []
  const exchangeWord: ExchangeWord[] = []
  const unverifiable: Unverifiable[] = []
  const states: ProvedState[] = []
  let faults = 0
  return {
    check(what, ok, detail, { doubt, ...about } = {}) {
      checks.push({ what, ok, detail, ...about, ...(doubt && { doubt }) })
      if (!ok) faults++
      if (faults >= MAXIMUM_FAULTS) throw new VerdictReached()
    },
    word: (what, value, about = {}) => void exchangeWord.push({ what, value, ...about }),
    unverifiable: (what, why, packageId) =>
      void unverifiable.push({ what, why, ...(packageId !== undefined && { packageId }) }),
    state: (state) => void states.push(state),
    report(chainEnd) {
      const isBroken = checks.some(({ ok }) => !ok)
      const isDoubtful = checks.some(({ doubt }) => doubt)
      const verdict = isBroken ? 'broken' : isDoubtful ? 'doubtful' : 'holds'
      const summary = summarize({ verdict, checks, exchangeWord, states })
      return { verdict, summary, states, checks, exchangeWord, unverifiable, chainEnd }
    },
  }
}

/** Past this many, a list in a sentence says nothing new. */
const SHOWN = 10

export function firstOf(items: readonly (string | number)[]): string {
  const more = items.length - SHOWN
  return items.slice(0, SHOWN).join(', ') + (more > 0 ? ` and ${more} more` : '')
}
