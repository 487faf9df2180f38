import type { EvidenceBundle, PackageRecord } from './evidence-bundle.ts'
import { firstOf, type Findings } from './evidence-report.ts'
import type { EntryClaims } from './verify-chain.ts'
import { needsSignature } from './verify-entries.ts'
import { verifyEvent } from './verify-event.ts'

export interface AssignedEntries {
  readonly record: PackageRecord
  readonly entries: readonly EntryClaims[]
}

/** Gives each package its entries. Every entry belongs to one package, and all packages to the thread. */
export function assignEntries(
  { thread_id: threadId, packages }: EvidenceBundle,
  entries: readonly EntryClaims[],
  findings: Findings,
): AssignedEntries[] {
  const faults: string[] = []
  const free = new Map(entries.map((entry) => [entry.value.position, entry]))
  const seen = new Set<string>()
  const assigned = packages.map((record) => {
    const { package_id: packageId, thread_id } = record.metadata
    if (seen.has(packageId)) faults.push(`${packageId} is listed twice`)
    seen.add(packageId)
    if (thread_id !== threadId) faults.push(`${packageId} is of another thread`)
    const own = record.positions.flatMap((position) => {
      const entry = free.get(position)
      if (!entry) faults.push(`entry ${position} is missing, or of two packages`)
      free.delete(position)
      return entry ? [entry] : []
    })
    return { record, entries: own.toSorted((a, b) => a.value.position - b.value.position) }
  })
  for (const entry of free.values()) faults.push(...ofNoPackage(entry, threadId, findings))
  const detail = firstOf(faults) || `${packages.length} packages`
  findings.check('each entry belongs to a package of this evidence', faults.length === 0, detail)
  return assigned
}

/** Only what needs no signature may belong to no package. */
function ofNoPackage(entry: EntryClaims, threadId: string, findings: Findings): string[] {
  const { position, proof } = entry.value
  verifyEvent(entry, threadId)
  findings.word('an entry that belongs to no package of this evidence', entry.rest(), { position })
  const differing = entry.differing.map((path) => `entry ${position}: ${path}`)
  return needsSignature(proof.kind) ? [`entry ${position} (${proof.kind})`] : differing
}

/** Kinds of entries that the exchange keeps apart until a package uses the policy receipt. */
const UNLINKED_KINDS = new Set(['policy_receipt_accepted', 'approval_recorded'])

/** Entries outside of the chain: no hash protects them, and the body that was signed is not here. */
export function sayUnlinkedEntries(
  { unlinked_entries: entries = [] }: EvidenceBundle,
  findings: Findings,
): void {
  for (const entry of entries) findings.word('an entry that is in no chain', entry)
  const wrong = entries.map(({ proof }) => proof.kind).filter((kind) => !isUnlinkedKind(kind))
  if (wrong.length > 0)
    findings.check('entries outside of the chain prove nothing about packages', false, firstOf(wrong))
}

function isUnlinkedKind(kind: string): boolean {
  return UNLINKED_KINDS.has(kind) || !needsSignature(kind)
}
