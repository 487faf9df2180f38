import { canonicalBytes, CryptoError, decodeBase64url, sha256Sync } from '@agent-exchange/crypto'
import { LogError, recordLabel, recordLeaf } from '@agent-exchange/log'
import type { EvidenceEntry, PackageEvidence, LoggedRecord } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { fetchRecords } from '../log/log-answers.ts'
import { shownAt, toHex, type Watched } from './watched.ts'

interface WatchedThread {
  readonly threadId: string
  readonly packages: readonly PackageEvidence[]
  /** The last position whose label is watched. */
  readonly end: number
  readonly labels: Map<string, Watched>
}

/** Version 1: labels of all positions of a thread for each package, with the leaves of the records that are shown. */
export async function watchThreadRecords(
  context: AgentContext,
  { threadId, packages, end, labels }: WatchedThread,
): Promise<void> {
  const records: LoggedRecord[] = []
  for (const { package_id } of packages) records.push(...(await fetchRecords(context, { package_id })))
  const recorded = new Set<number>()
  for (const { first_position: first, last_position: last } of records)
    for (let position = first; position <= Math.min(last, end); position++) recorded.add(position)
  for (const evidence of packages) {
    const { package_id: packageId } = evidence
    const own = records.filter((record) => record.package_id === packageId)
    const shown = new Map(own.map((record) => [record.first_position, record]))
    const identity = identityOf(evidence)
    // An entry without a record waits for its leaf like one whose record is pending.
    const waiting = new Set(
      evidence.entries.flatMap(({ position }) => (recorded.has(position) ? [] : [position])),
    )
    for (let firstPosition = 1; firstPosition <= end; firstPosition++) {
      const record = shown.get(firstPosition)
      const leaf = record && leafOf(evidence, record)
      labels.set(toHex(recordLabel({ ...identity, firstPosition })), {
        what: `the record of ${packageId} from entry ${firstPosition} of ${threadId} on`,
        subject: packageId,
        number: firstPosition,
        ...shownAt(record ?? (waiting.has(firstPosition) ? {} : undefined)),
        ...(leaf && { leaf }),
      })
    }
  }
}

function identityOf({ package: { metadata }, policy_receipt: { receipt } }: PackageEvidence) {
  return {
    packageId: metadata.package_id,
    contentDigest: metadata.content_digest,
    receiptSignature: receipt.signature.signature,
  }
}

/** Recomputed: an entry that was changed may still show the hash that it had. */
function hashOf({ proof: shown, ...entry }: EvidenceEntry): string {
  const { hash: _, ...proof } = shown
  return toHex(sha256Sync(canonicalBytes({ ...entry, proof })))
}

/** Empty where what the exchange shows can be no leaf. */
function leafOf(
  evidence: PackageEvidence,
  { first_position: firstPosition, last_position: lastPosition, salt }: LoggedRecord,
): Uint8Array | undefined {
  if (salt === undefined) return undefined
  const own = evidence.entries.filter(({ position }) => position >= firstPosition && position <= lastPosition)
  const positions = { threadId: evidence.thread_id, firstPosition, lastPosition }
  const previousHash = own[0]?.proof.previous_hash ?? null
  try {
    const entryHashes = own.map(hashOf)
    return recordLeaf(
      { ...identityOf(evidence), ...positions, previousHash, entryHashes },
      decodeBase64url(salt),
    )
  } catch (error) {
    if (error instanceof LogError || error instanceof CryptoError) return new Uint8Array()
    throw error
  }
}
