import { decodeBase64url } from '@agent-exchange/crypto'
import { recordLeaf } from '../leaf/record-leaf.ts'
import type { Checks } from '../verdict/check.ts'
import type { Capsule, RecordProof } from './capsule-format.ts'
import type { OpenedLog } from './open-log.ts'
import { placed } from './verify-key-leaves.ts'

/** The index of the leaf that holds each entry, by position. */
export type EntryIndexes = ReadonlyMap<number, number>

/** Every entry is in one leaf of the log, and the leaves have the order of the chain. */
export function verifyRecordLeaves(capsule: Capsule, log: OpenedLog, checks: Checks): EntryIndexes {
  const indexes = new Map<number, number>()
  const lookup = lookupOf(capsule)
  let [last, claimed] = [-1, 0]
  for (const record of capsule.log.records.toSorted((a, b) => a.first_position - b.first_position)) {
    const { first_position: first, last_position: end, package_id: packageId } = record
    const about = { package_id: packageId, position: first }
    // Before any entry is read, so that records that claim the same entries over and over cost nothing.
    if (first <= claimed) {
      checks.fails('record_positions', { ...about, values: { fault: 'overlap' } })
      continue
    }
    claimed = Math.max(first, end)
    const index = placeRecord(lookup, record, log, checks)
    if (index === undefined) continue
    checks.check('record_order', index > last, about)
    for (let position = first; position <= end; position++) indexes.set(position, index)
    last = index
    const values = { index, last_position: end, ...log.boundsOf(index) }
    checks.holds('record_leaf', { ...about, values })
  }
  const open = capsule.entries.flatMap(({ position }) => (indexes.has(position) ? [] : [position]))
  const [position] = open
  if (position !== undefined)
    checks.unproved('record_missing', { position, values: { entries: open.length } })
  else if (capsule.entries.length === 0) checks.unproved('record_missing', { values: { entries: 0 } })
  return indexes
}

interface Lookup {
  readonly threadId: string
  readonly entries: ReadonlyMap<number, Capsule['entries'][number]>
  readonly packages: ReadonlyMap<string, Capsule['packages'][number]>
  /** The package of each position. */
  readonly owners: ReadonlyMap<number, string>
}

function lookupOf({ thread_id: threadId, entries, packages }: Capsule): Lookup {
  return {
    threadId,
    entries: new Map(entries.map((entry) => [entry.position, entry])),
    packages: new Map(packages.map((each) => [each.metadata.package_id, each])),
    owners: new Map(
      packages.flatMap(({ metadata, positions }) =>
        positions.map((at) => [at, metadata.package_id] as const),
      ),
    ),
  }
}

function placeRecord(
  { threadId, entries, packages, owners }: Lookup,
  { package_id: packageId, first_position: first, last_position: last, salt, proof }: RecordProof,
  log: OpenedLog,
  checks: Checks,
): number | undefined {
  const about = { package_id: packageId, position: first }
  const own: Capsule['entries'][number][] = []
  for (let at = first, entry = entries.get(at); entry && at <= last; entry = entries.get(++at))
    own.push(entry)
  if (own.length === 0 || own.length !== last - first + 1) {
    checks.fails('record_positions', { ...about, values: { fault: 'entries_missing' } })
    return undefined
  }
  const subject = packages.get(packageId)
  if (!subject || !own.every(({ position }) => owners.get(position) === packageId)) {
    checks.fails('record_package', about)
    return undefined
  }
  const { index, fault } = placed(() => {
    const leaf = recordLeaf(
      {
        packageId,
        contentDigest: subject.metadata.content_digest,
        receiptSignature: subject.policy_receipt.signature.signature,
        threadId,
        firstPosition: first,
        lastPosition: last,
        previousHash: own[0]?.proof.previous_hash ?? null,
        entryHashes: own.map((entry) => entry.proof.hash),
      },
      decodeBase64url(salt),
    )
    return log.place(leaf, proof)
  })
  if (index === undefined) checks.fails('record_leaf', { ...about, values: { fault } })
  return index
}
