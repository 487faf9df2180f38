import type { Checks } from '../verdict/check.ts'
import type { EvidenceBundle, PackageRecord } from './evidence-bundle.ts'
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
  checks: Checks,
): AssignedEntries[] {
  let isClean = true
  const fail = (...details: Parameters<Checks['fails']>) => (isClean = checks.fails(...details))
  const free = new Map(entries.map((entry) => [entry.value.position, entry]))
  const seen = new Set<string>()
  const assigned = packages.map((record) => {
    const { package_id, thread_id } = record.metadata
    if (seen.has(package_id)) fail('entry_package', { package_id, values: { fault: 'listed_twice' } })
    seen.add(package_id)
    if (thread_id !== threadId) fail('entry_package', { package_id, values: { fault: 'other_thread' } })
    const own = record.positions.flatMap((position) => {
      const entry = free.get(position)
      if (!entry) fail('entry_package', { package_id, position, values: { fault: 'entry_missing' } })
      free.delete(position)
      return entry ? [entry] : []
    })
    return { record, entries: own.toSorted((a, b) => a.value.position - b.value.position) }
  })
  for (const entry of free.values()) if (!isOfNoPackage(entry, threadId, checks)) isClean = false
  if (isClean) checks.holds('entry_package', { values: { packages: packages.length } })
  return assigned
}

/** Only what needs no signature may belong to no package. */
function isOfNoPackage(entry: EntryClaims, threadId: string, checks: Checks): boolean {
  const { position, proof } = entry.value
  const { kind } = proof
  verifyEvent(entry, threadId)
  checks.claim('entry_of_no_package', entry.rest(), { position })
  if (needsSignature(kind))
    return checks.fails('entry_package', { position, values: { fault: 'needs_package', kind } })
  if (entry.differing.length === 0) return true
  const members = entry.differing.join(', ')
  return checks.fails('entry_package', { position, values: { fault: 'differs', members } })
}

/** Kinds of entries that the exchange keeps apart until a package uses the policy receipt. */
const UNLINKED_KINDS = new Set(['policy_receipt_accepted', 'approval_recorded'])

/** Entries outside of the chain: no hash protects them, and the body that was signed is not here. */
export function sayUnlinkedEntries({ unlinked_entries: entries = [] }: EvidenceBundle, checks: Checks): void {
  for (const entry of entries) {
    checks.claim('unlinked_entry', entry)
    const { kind } = entry.proof
    if (!isUnlinkedKind(kind)) checks.fails('unlinked_entry', { values: { kind } })
  }
}

function isUnlinkedKind(kind: string): boolean {
  return UNLINKED_KINDS.has(kind) || !needsSignature(kind)
}
