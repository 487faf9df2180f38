import type { ChainCheckCode } from './chain-check.ts'
import { MAXIMUM_FAULTS, VerdictReached, type EvidenceReport } from '../evidence/evidence-report.ts'
import type { LogErrorCode } from '../errors.ts'

/** How much a consistent capsule proves, the least first. */
export const CAPSULE_LEVELS = ['exchange-word', 'unpinned', 'log-signed', 'witnessed'] as const
export type CapsuleLevel = (typeof CAPSULE_LEVELS)[number]

/** Why a capsule contradicts itself, beside the reasons of LogError. */
export type ContradictionCode =
  | LogErrorCode
  | ChainCheckCode
  | 'recorded_time'
  | 'evidence_broken'
  | 'checkpoint_differs'
  | 'history_origin'
  | 'record_entries_missing'
  | 'record_package'
  | 'record_overlap'
  | 'record_order'
  | 'key_event_duplicate'
  | 'key_event_missing'
  | 'key_event_order'
  | 'key_event_differs'
  | 'key_event_hidden'
  | 'key_logged_after_use'

export interface Contradiction {
  readonly code: ContradictionCode
  /** A whole sentence. */
  readonly what: string
  readonly packageId?: string
  readonly position?: number
}

/** Seconds since 1970 became ISO 8601 here; either end may be unknown. */
export interface TimeBounds {
  readonly after?: string
  readonly before?: string
}

/** What the log or a signature proves. */
export interface ProvedFact extends TimeBounds {
  readonly what: string
  readonly packageId?: string
  readonly position?: number
  /** Of the leaf in the log. */
  readonly index?: number
  readonly agentId?: string
  readonly keyId?: string
}

export interface UnprovedFact {
  readonly what: string
  readonly why: string
  /** True where it is about an event or a key of the capsule, which then proves no more than the exchange's word. */
  readonly lowersLevel?: true
}

/** A step of the verification against the log. */
export interface LogCheck {
  readonly what: string
  readonly result: 'holds' | 'does not hold' | 'not proved'
  readonly detail?: string
  readonly packageId?: string
  readonly position?: number
}

/** How far a capsule shows the key events of an agent that signed. A later revocation would not show. */
export interface ShownKeyEvents {
  readonly agentId: string
  /** The number of the last key event that the log proves; 0 where there is none. */
  readonly through: number
}

/** Something to compare with what its owner says elsewhere. */
export interface Fingerprint {
  readonly of: string
  readonly value: string
}

export interface PackageStory {
  readonly packageId: string
  readonly sentence: string
}

/** A key with its events in the log, in their order. */
export interface KeyStory {
  readonly agentId: string
  readonly organizationId: string
  readonly keyId: string
  readonly thumbprint: string
  readonly events: readonly (TimeBounds & {
    readonly kind: string
    readonly number: number
    readonly index: number
    readonly recordedAt: string
    readonly invalidFrom?: string
  })[]
}

export interface CheckpointStory {
  readonly origin: string
  readonly size: number
  /** In base64. */
  readonly root: string
  readonly key: string
  readonly isPinned: boolean
  readonly witnesses: readonly { readonly name: string; readonly at: string }[]
  /** How many of the witnesses below cosigned. */
  readonly cosigned: number
  /** Witnesses that count towards the quorum of the policy. */
  readonly of: number
  readonly isQuorumMet: boolean
  /** Earlier checkpoints that lead to this one, with the time by which enough witnesses had seen each. */
  readonly history: readonly { readonly size: number; readonly seenBy?: string }[]
  /** Signature lines by keys that the policy does not name: they prove nothing. */
  readonly ignored: readonly string[]
}

export interface CapsuleResult {
  readonly outcome: 'meets' | 'contradiction' | 'unreadable' | 'below'
  /** Of `aex verify`: 0 meets what was required, 1 contradiction, 2 unreadable, 3 consistent but below, or in doubt. */
  readonly exitCode: 0 | 1 | 2 | 3
  /** Undefined where the capsule is unreadable or contradicts itself. */
  readonly level: CapsuleLevel | undefined
  readonly required: CapsuleLevel
  /** True where a doubt counts as below what was required. */
  readonly isStrict: boolean
  /** One sentence that can be quoted. */
  readonly sentence: string
  /** Of the format. */
  readonly version: 1 | 2 | 3 | undefined
  /** Up to when the exchange states, with its signature, that nothing more was recorded of any package. */
  readonly completeUpTo?: string
  readonly threadId: string | undefined
  readonly contradictions: readonly Contradiction[]
  readonly proved: readonly ProvedFact[]
  readonly unproved: readonly UnprovedFact[]
  /** What holds and still calls for a look by a person. */
  readonly doubts: readonly string[]
  readonly shownKeyEvents: readonly ShownKeyEvents[]
  /** Every check against the log, in the order of the verification. */
  readonly logChecks: readonly LogCheck[]
  readonly fingerprints: readonly Fingerprint[]
  readonly packages: readonly PackageStory[]
  readonly keys: readonly KeyStory[]
  readonly checkpoint: CheckpointStory | undefined
  /** The evidence without the log: every check by itself. */
  readonly evidence: EvidenceReport | undefined
}

type About = Pick<Contradiction, 'packageId' | 'position'>

/** Collects what the steps of the verification find. */
export class CapsuleFindings {
  readonly contradictions: Contradiction[] = []
  readonly proved: ProvedFact[] = []
  readonly unproved: UnprovedFact[] = []
  readonly doubts: string[] = []
  readonly logChecks: LogCheck[] = []

  /** What the evidence contradicts by itself; its report lists that check. */
  contradict(code: ContradictionCode, what: string, about: About = {}): void {
    this.contradictions.push({ code, what, ...about })
    if (this.contradictions.length >= MAXIMUM_FAULTS) throw new VerdictReached()
  }

  /** A check against the log that holds. */
  hold(what: string, detail?: string, about: About = {}): void {
    this.logChecks.push({ what, result: 'holds', ...(detail !== undefined && { detail }), ...about })
  }

  /** A check against the log that does not hold. */
  fail(code: ContradictionCode, what: string, about: About = {}): void {
    this.contradict(code, what, about)
    this.logChecks.push({ what, result: 'does not hold', detail: code, ...about })
  }

  prove(fact: ProvedFact): void {
    this.proved.push(fact)
  }

  leaveOpen(what: string, why: string): void {
    this.unproved.push({ what, why })
  }

  doubt(what: string, why: string): void {
    this.doubts.push(`“${what}” (${why})`)
    this.leaveOpen(what, `It holds, but a person should look at it: ${why}.`)
  }

  /** Something that only the exchange says: the capsule as a whole proves no more than that. */
  leaveToExchange(what: string, why: string, about: About = {}): void {
    this.unproved.push({ what, why, lowersLevel: true })
    this.logChecks.push({ what, result: 'not proved', detail: why, ...about })
  }
}

export function isoTime(seconds: number): string {
  return new Date(seconds * 1_000).toISOString()
}
