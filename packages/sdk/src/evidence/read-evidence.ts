import {
  EVIDENCE_FORMAT,
  isThreadEntry,
  type EvidenceBundle,
  type PackageRecord,
  type UnlinkedEntry,
} from '@agent-exchange/log'
import type { EvidenceEntry, PackageEvidence, ThreadEvidence } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { collectKeys } from './collect-keys.ts'
import {
  distinct,
  packagesOf,
  readPackageEvidence,
  readThreadEvidence,
  responsesTo,
  type EvidenceSubject,
} from './package-evidence.ts'

/**
 * AUD-01: collects the evidence of a whole thread, or of a package with the responses to it, and the keys that
 * prove it. Keep it: what you hold yourself cannot be taken back.
 *
 * @example
 * const evidence = await readEvidence(context, { packageId: 'pkg_1' })
 * const { verdict, summary } = await verifyEvidence(evidence)
 */
export async function readEvidence(context: AgentContext, subject: EvidenceSubject): Promise<EvidenceBundle> {
  await context.deployment.refresh()
  const { thread, packages } =
    subject.packageId === undefined
      ? await ofThread(context, subject.threadId)
      : await ofPackage(context, subject.packageId)
  const entries = inOrder([...(thread?.entries ?? []), ...packages.flatMap((one) => one.entries)]).filter(
    isThreadEntry,
  )
  const unlinked = unlinkedEntries(thread)
  const bundle = {
    format: EVIDENCE_FORMAT,
    thread_id: subject.threadId ?? packages[0]?.thread_id ?? '',
    entries,
    packages: packages.filter(isEarlier).map(toRecord),
    ...(unlinked.length > 0 && { unlinked_entries: unlinked }),
  } as const
  return { ...bundle, keys: await collectKeys(context, bundle, packages) }
}

interface Collected {
  readonly thread?: ThreadEvidence
  readonly packages: readonly PackageEvidence[]
}

/** The chain first: whatever is recorded while the packages are read is left for another time. */
async function ofThread(context: AgentContext, threadId: string): Promise<Collected> {
  const thread = await readThreadEvidence(context, threadId)
  const end = thread.entries.at(-1)?.position ?? 0
  const packages: PackageEvidence[] = []
  for (const packageId of await packagesOf(context, threadId)) {
    const evidence = await readPackageEvidence(context, packageId)
    const entries = evidence.entries.filter(({ position }) => position <= end)
    if (entries.length > 0) packages.push({ ...evidence, entries })
  }
  return { thread, packages }
}

async function ofPackage(context: AgentContext, packageId: string): Promise<Collected> {
  const packages = [await readPackageEvidence(context, packageId)]
  for (const id of packages.flatMap(responsesTo)) packages.push(await readPackageEvidence(context, id))
  return { packages }
}

/** Packages of version 2 have chains of their own, and no place in this format. */
function isEarlier({ entries }: PackageEvidence): boolean {
  return entries.every(isThreadEntry)
}

/** Packages and thread show the same entries. Were they to differ, both are kept, and the chain breaks. */
function inOrder(entries: readonly EvidenceEntry[]): EvidenceEntry[] {
  return distinct(entries).toSorted((a, b) => a.position - b.position)
}

/** What a verifier needs of a package; the entries carry its receipts and its states. */
function toRecord({ package: resource, ...evidence }: PackageEvidence): PackageRecord {
  const { metadata, edc, sender_signature } = resource
  const { policy_receipt, entries, delivery_attempts: attempts } = evidence
  return {
    metadata,
    policy_receipt: policy_receipt.receipt,
    positions: entries.map(({ position }) => position),
    ...(edc && { edc }),
    ...(sender_signature && { sender_signature }),
    ...(attempts.length > 0 && { delivery_attempts: attempts }),
  }
}

function unlinkedEntries(thread: ThreadEvidence | undefined): readonly UnlinkedEntry[] {
  const unlinked: unknown = thread && Reflect.get(thread, 'unlinked_entries')
  return Array.isArray(unlinked) ? (unlinked as UnlinkedEntry[]) : []
}
