import { DEFAULT_PROFILE, revocationsIn } from '@agent-exchange/protocol'
import { Claims } from '../evidence/claims.ts'
import {
  EVIDENCE_FORMAT,
  type EvidenceBundle,
  type KeyRecord,
  type PackageRecord,
  type ThreadEntry,
} from '../evidence/evidence-bundle.ts'
import { reportOf, type EvidenceReport, type ProvedState } from '../evidence/evidence-report.ts'
import { verifyStatements, type VerifyEvidenceOptions } from '../evidence/verify-evidence.ts'
import type { LogPolicy } from '../notes/policy.ts'
import { Checks, VerdictReached, type About } from '../verdict/check.ts'
import { isHidden, type CapsuleV3 } from './capsule-v3-format.ts'
import type { RecordedLeaf } from './verify-recorded-times.ts'
import { verifyChains, type VerifiedChains } from './verify-chains.ts'
import type { BoundKey } from './verify-shown-keys.ts'

interface OpenedChains {
  readonly chains: VerifiedChains
  /** The entries in one list. Their positions count over the whole capsule, in its order. */
  readonly bundle: EvidenceBundle
  /** Where each entry of that list is shown, by its position in it. */
  readonly places: ReadonlyMap<number, Place>
  /** The entries whose leaves are shown. */
  readonly recorded: readonly RecordedLeaf[]
}

type Place = Required<Pick<About, 'package_id' | 'position'>>

/** Verifies the structure of a capsule, and lists its entries for the verification of what was signed. */
export async function openChains(
  capsule: CapsuleV3,
  { profile = DEFAULT_PROFILE, policy }: VerifyEvidenceOptions & { readonly policy?: LogPolicy },
): Promise<OpenedChains> {
  const platformAgentId = profile['O-42'].agent_id
  const chains = await verifyChains(capsule, { platformAgentId, ...(policy && { policy }) })
  const entries: ThreadEntry[] = []
  const packages: PackageRecord[] = []
  const places = new Map<number, Place>()
  const recorded: RecordedLeaf[] = []
  let before = 0
  for (const { metadata, policy_receipt, edc, sender_signature, entries: own } of capsule.packages) {
    const positions: number[] = []
    const indexes = chains.leaves.get(metadata.package_id)
    for (const [at, entry] of own.entries()) {
      const position = before + at + 1
      const index = indexes?.get(entry.position)
      if (isHidden(entry)) continue
      const about = { package_id: metadata.package_id, position: entry.position }
      places.set(position, about)
      if (index !== undefined) recorded.push({ about, recordedAt: entry.proof.recorded_at, index })
      positions.push(position)
      // Chain and leaf cover position and links; a proof of version 2 does not repeat them.
      const proof = { ...entry.proof, previous_hash: null, hash: '' }
      entries.push({ position, ...(entry.event && { event: entry.event }), proof })
    }
    before += own.length
    packages.push({
      metadata,
      policy_receipt,
      positions,
      ...(edc && { edc }),
      ...(sender_signature && { sender_signature }),
    })
  }
  const keys = chains.keys.map(recordOf)
  const bundle = { format: EVIDENCE_FORMAT, thread_id: capsule.thread_id, entries, packages, keys } as const
  return { chains, bundle, places, recorded }
}

/** A key with the history that the log holds of it. */
function recordOf({ key, events }: BoundKey): KeyRecord {
  const { organization_id, agent_id, key_id, public_key } = key
  const history = events.map(({ event }) => ({
    kind: event.kind,
    recorded_at: event.recorded_at,
    details: event.invalid_from === undefined ? {} : { invalid_from: event.invalid_from },
  }))
  const registered = events.find(({ event }) => event.kind === 'registered')?.event
  const [revoked] = revocationsIn(history)
  return {
    organization_id,
    agent_id,
    events: history,
    key: {
      key_id,
      use: 'signing',
      format: 'jwk',
      public_key: { ...public_key, kty: 'EC' },
      valid_from: registered?.valid_from ?? '',
      registered_at: registered?.recorded_at ?? '',
      status: revoked ? 'revoked' : 'active',
      ...(revoked && { invalid_from: revoked.invalidFrom, revoked_at: revoked.recordedAt }),
    },
  }
}

/** What signatures prove about the entries. */
export async function verifySignedEntries(
  { bundle, places }: Pick<OpenedChains, 'bundle' | 'places'>,
  options: VerifyEvidenceOptions,
): Promise<EvidenceReport> {
  const checks = new Checks(({ position, ...about }) => ({
    ...about,
    ...(position !== undefined && places.get(position)),
  }))
  const states: ProvedState[] = []
  try {
    const entries = bundle.entries.map((entry) => {
      const claims = new Claims(entry)
      claims.cover('position', 'proof/hash', 'proof/previous_hash')
      return claims
    })
    await verifyStatements(bundle, entries, options, { checks, states })
  } catch (error) {
    if (!(error instanceof VerdictReached)) throw error
  }
  return reportOf(checks, states)
}

/** Up to when the exchange states, of each package, that nothing more was recorded. */
export function statedEnds({ packages }: CapsuleV3): ReadonlyMap<string, string> {
  return new Map(
    packages.flatMap(({ metadata, head }) => (head ? [[metadata.package_id, head.stated_at] as const] : [])),
  )
}
