import { CryptoError, decodeBase64url } from '@agent-exchange/crypto'
import { isEarlier } from '@agent-exchange/protocol'
import { LogError } from '../errors.ts'
import { recordLeaf } from '../leaf/record-leaf.ts'
import { MAXIMUM_LOGGING_DELAY_SECONDS, type Capsule, type RecordProof } from './capsule-format.ts'
import { isoTime, type CapsuleFindings, type TimeBounds } from './capsule-result.ts'
import type { OpenedLog } from './open-log.ts'

/** The index of the leaf that holds each entry, by position. */
export type EntryIndexes = ReadonlyMap<number, number>

/** Every entry is in one leaf of the log, and the leaves have the order of the chain. */
export function verifyRecordLeaves(
  capsule: Capsule,
  log: OpenedLog,
  findings: CapsuleFindings,
): EntryIndexes {
  const indexes = new Map<number, number>()
  const lookup = lookupOf(capsule)
  let last = { index: -1, position: 0 }
  let claimed = 0
  for (const record of capsule.log.records.toSorted((a, b) => a.first_position - b.first_position)) {
    const { first_position: first, last_position: end, package_id: packageId } = record
    const about = { packageId, position: first }
    // Before any entry is read, so that records that claim the same entries over and over cost nothing.
    if (first <= claimed) {
      findings.fail('record_overlap', `Two leaves hold entry ${first}.`, about)
      continue
    }
    claimed = Math.max(first, end)
    const index = placeRecord(lookup, record, log, findings)
    if (index === undefined) continue
    if (index <= last.index)
      findings.fail('record_order', `The log holds entry ${first} before entry ${last.position}.`, about)
    for (let position = first; position <= end; position++) indexes.set(position, index)
    last = { index, position: end }
    const what = first === end ? `Entry ${first} is in the log` : `Entries ${first} to ${end} are in the log`
    const bounds = log.boundsOf(index)
    findings.hold(what, `leaf ${index}`, about)
    findings.prove({ what, ...about, index, ...bounds })
    verifyRecordedTime(lookup.entries.get(first), bounds, about, findings)
  }
  const open = capsule.entries.flatMap(({ position }) => (indexes.has(position) ? [] : [position]))
  if (open.length > 0 || capsule.entries.length === 0)
    findings.leaveToExchange(
      open.length === 0 ? 'whether anything was recorded' : `whether ${numbered(open)} in the log`,
      'The capsule holds no proof of it. Collect the capsule again once the log has caught up.',
    )
  return indexes
}

/**
 * Witnesses saw the log without this record long after the time at which the exchange says that it recorded it: the time
 * is not proved, and neither is what depends on it.
 */
function verifyRecordedTime(
  entry: Capsule['entries'][number] | undefined,
  { after }: TimeBounds,
  about: { readonly packageId: string; readonly position: number },
  findings: CapsuleFindings,
): void {
  if (!entry || after === undefined) return
  const { recorded_at: recordedAt } = entry.proof
  const latest = isoTime(Date.parse(after) / 1_000 - MAXIMUM_LOGGING_DELAY_SECONDS)
  if (isEarlier(recordedAt, latest) === false) return
  findings.leaveToExchange(
    `whether entry ${about.position} was recorded at ${recordedAt}`,
    `Witnesses saw the log without it after ${after}, more than ${MAXIMUM_LOGGING_DELAY_SECONDS} seconds later.`,
    about,
  )
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
  findings: CapsuleFindings,
): number | undefined {
  const about = { packageId, position: first }
  const own: Capsule['entries'][number][] = []
  for (let at = first, entry = entries.get(at); entry && at <= last; entry = entries.get(++at))
    own.push(entry)
  if (own.length === 0 || own.length !== last - first + 1) {
    findings.fail(
      'record_entries_missing',
      `Entries of the leaf from ${first} on are not in the capsule.`,
      about,
    )
    return undefined
  }
  const subject = packages.get(packageId)
  if (!subject || !own.every(({ position }) => owners.get(position) === packageId)) {
    findings.fail('record_package', `The leaf from entry ${first} on is of another package.`, about)
    return undefined
  }
  try {
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
    return log.place(leaf, proof, `the record of entry ${first}`)
  } catch (error) {
    if (!(error instanceof LogError || error instanceof CryptoError)) throw error
    findings.fail('leaf_field', `The leaf from entry ${first} on is malformed. ${error.message}`, about)
    return undefined
  }
}

function numbered(positions: readonly number[]): string {
  const [first] = positions
  return positions.length === 1 ? `entry ${first} is` : `${positions.length} entries, from ${first} on, are`
}
