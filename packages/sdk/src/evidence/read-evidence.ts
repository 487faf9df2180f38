import { canonicalize } from '@agent-exchange/crypto'
import type { EvidenceEntry, PackageEvidence, ThreadEvidence } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { readPages } from '../exchange/pages.ts'
import { readThread } from '../exchange/read-thread.ts'
import { collectKeys } from './collect-keys.ts'
import {
  EVIDENCE_FORMAT,
  isThreadEntry,
  MAXIMUM_PACKAGES,
  type EvidenceBundle,
  type PackageRecord,
  type UnlinkedEntry,
} from '@agent-exchange/log'

export type EvidenceSubject =
  | { readonly threadId: string; readonly packageId?: undefined }
  | { readonly packageId: string; readonly threadId?: undefined }

/**
 * AUD-01: collects the evidence of a whole thread, or of a package with the responses to it, and the keys that
 * prove it. Keep it: what you hold yourself cannot be taken back.
 *
 * @example
 * const evidence = await readEvidence(context, { packageId: 'pkg_1' })
 * const { verdict, summary } = await verifyEvidence(evidence)
 */
export async function readEvidence(context: AgentContext, subject: EvidenceSubject): Promise<EvidenceBundle> {
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
    packages: packages.map(toRecord),
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
  const path = { thread_id: threadId }
  const thread = await inOne(
    readPages((after) => context.connection.call('getThreadAuditEvidence', { path, query: { after } })),
  )
  const end = thread.entries.at(-1)?.position ?? 0
  const packages: PackageEvidence[] = []
  for (const packageId of await packagesOf(context, threadId)) {
    const evidence = await packageEvidence(context, packageId)
    const entries = evidence.entries.filter(({ position }) => position <= end)
    if (entries.length > 0) packages.push({ ...evidence, entries })
  }
  return { thread, packages }
}

async function ofPackage(context: AgentContext, packageId: string): Promise<Collected> {
  const original = await packageEvidence(context, packageId)
  const responses = original.entries.flatMap(({ proof }) => {
    const id: unknown = proof.kind === 'response_accepted' && Reflect.get(proof, 'response_package_id')
    return typeof id === 'string' ? [id] : []
  })
  const packages = [original]
  for (const id of limited([...new Set(responses)])) packages.push(await packageEvidence(context, id))
  return { packages }
}

async function packagesOf(context: AgentContext, threadId: string): Promise<string[]> {
  const ids: string[] = []
  for await (const { packages } of readThread(context, threadId))
    ids.push(
      ...limited(
        packages.map(({ package_id }) => package_id),
        ids.length,
      ),
    )
  return ids
}

function limited(ids: readonly string[], before = 0): readonly string[] {
  if (ids.length + before < MAXIMUM_PACKAGES) return ids
  throw new ExchangeError('exchange_answer_unreadable', {
    what: `There are more than ${MAXIMUM_PACKAGES} packages; collect the evidence of single ones.`,
  })
}

async function packageEvidence({ connection }: AgentContext, packageId: string): Promise<PackageEvidence> {
  const path = { package_id: packageId }
  return inOne(readPages((after) => connection.call('getPackageAuditEvidence', { path, query: { after } })))
}

/** Lists of evidence that share the cursor of its pages; a service without paging repeats them on each page. */
const PAGED = ['entries', 'delivery_attempts', 'unlinked_entries']

/** The newest page, with the lists of all of them. */
async function inOne<P extends ThreadEvidence | PackageEvidence>(pages: AsyncIterable<P>): Promise<P> {
  const lists = new Map<string, unknown[]>()
  let last: P | undefined
  for await (const page of pages) {
    for (const name of PAGED) {
      const list: unknown = Reflect.get(page, name)
      if (Array.isArray(list)) lists.set(name, [...(lists.get(name) ?? []), ...(list as unknown[])])
    }
    last = page
  }
  if (!last) throw new ExchangeError('exchange_answer_unreadable', { what: 'There is no evidence.' })
  const whole = [...lists].map(([name, list]) => [name, distinct(list)])
  return { ...last, ...(Object.fromEntries(whole) as Partial<P>) }
}

function distinct<T>(items: readonly T[]): T[] {
  return [...new Map(items.map((item) => [canonicalize(item), item])).values()]
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
