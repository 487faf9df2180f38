import type { PackageState, TransportMode } from '@agent-exchange/protocol'
import type { EvidenceReport, ProvedState } from '../evidence/evidence-report.ts'
import type { Check, ExchangeClaim } from '../verdict/check.ts'

/** How much a consistent capsule proves, the least first. */
export const CAPSULE_LEVELS = ['signed-only', 'unpinned', 'log-signed', 'witnessed'] as const
export type CapsuleLevel = (typeof CAPSULE_LEVELS)[number]

/**
 * The verdict in one word. `proven`: the verifier's own log key and witnesses confirm what is shown, and nothing is below
 * what was required. `consistent`: nothing contradicts, and that much is not confirmed.
 */
export const VERDICT_WORDS = ['proven', 'consistent', 'broken', 'unreadable'] as const
export type VerdictWord = (typeof VERDICT_WORDS)[number]

/** Seconds since 1970 became ISO 8601 here; either end may be unknown. */
export interface TimeBounds {
  readonly after?: string
  readonly before?: string
}

/** How far a capsule shows the key events of an agent that signed. A later revocation would not show. */
export interface ShownKeyEvents {
  readonly agentId: string
  /** The number of the last key event that the log proves; 0 where there is none. */
  readonly through: number
}

/** Something to compare with what its owner says elsewhere. */
export type Fingerprint =
  | { readonly of: 'log'; readonly origin: string; readonly value: string }
  | { readonly of: 'key'; readonly agentId: string; readonly keyId: string; readonly value: string }

/** What a package is, and what is signed about it. */
export interface PackageStory {
  readonly packageId: string
  readonly from: Party
  readonly to: Party
  readonly transport: TransportMode
  readonly respondsTo?: string
  /** When the exchange recorded it. */
  readonly acceptedAt?: string
  readonly state: PackageState | undefined
  /** The furthest state that a verified signature proves. */
  readonly signedState: PackageState | undefined
  /** Receipts and revocations that verified signatures prove, in the order of the chain. */
  readonly signed: readonly SignedStatement[]
  /** Up to when the exchange states, with its signature, that nothing more was recorded of it. */
  readonly completeUpTo?: string
  readonly disclosed?: DisclosedContent
}

/** Content that a party shows, as its sender sealed it. */
export interface DisclosedContent {
  readonly by: Party
  /** False where it is the sender's claim alone: it committed to no key, and could show another content under another. */
  readonly isProved: boolean
  readonly text: string
}

export interface Party {
  readonly organizationId: string
  readonly agentId: string
}

export interface SignedStatement {
  /** Such as `opened`, or `revoked`. */
  readonly kind: string
  readonly by: Party
  /** As the signer says. */
  readonly at: string
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
  /** The earliest time by which the quorum had seen the checkpoint. */
  readonly seenBy?: string
  /** Earlier checkpoints that lead to this one, with the time by which enough witnesses had seen each. */
  readonly history: readonly { readonly size: number; readonly seenBy?: string }[]
  /** Signature lines by keys that the policy does not name: they prove nothing. */
  readonly ignored: readonly string[]
}

/** The verdict as data: nothing in it is a sentence, and no renderer decides anything. */
export interface CapsuleResult {
  readonly word: VerdictWord
  readonly outcome: 'meets' | 'contradiction' | 'unreadable' | 'below'
  /** Of `aex verify`: 0 meets what was required, 1 contradiction, 2 unreadable, 3 consistent but below, or in doubt. */
  readonly exitCode: 0 | 1 | 2 | 3
  /** Undefined where the capsule is unreadable or contradicts itself. */
  readonly level: CapsuleLevel | undefined
  readonly required: CapsuleLevel
  /** True where a doubt counts as below what was required. */
  readonly isStrict: boolean
  /** Of the format. */
  readonly version: 1 | 2 | 3 | undefined
  readonly threadId: string | undefined
  /** Up to when the exchange states, with its signature, that nothing more was recorded of any package. */
  readonly completeUpTo?: string
  /** The checks that fail. */
  readonly contradictions: readonly Check[]
  /** Every check, in the order of the verification. */
  readonly checks: readonly Check[]
  /** What only the exchange says. */
  readonly exchangeClaims: readonly ExchangeClaim[]
  readonly states: readonly ProvedState[]
  /** Of the thread, in formats 1 and 2; keep it, and give it as an anchor another time. */
  readonly chainEnd?: NonNullable<EvidenceReport['chainEnd']>
  readonly packages: readonly PackageStory[]
  readonly shownKeyEvents: readonly ShownKeyEvents[]
  readonly fingerprints: readonly Fingerprint[]
  readonly keys: readonly KeyStory[]
  readonly checkpoint: CheckpointStory | undefined
}

export function isoTime(seconds: number): string {
  return new Date(seconds * 1_000).toISOString()
}
