import { bodyHash, chainStart, entryBody, nextLink } from '@agent-exchange/log'
import type { EvidenceEntry } from '@agent-exchange/protocol'
import { BackupContradiction } from './check.ts'

/** The package of an audit record, as far as its chain depends on it. */
export interface PackageOfRecord {
  readonly package_id: string
  readonly thread_id: string
  readonly content_digest: string
  readonly receipt_signature: string
  readonly end_position: number | null
  readonly end_link: Uint8Array | null
}

interface ChainProgress {
  position: number
  link: Uint8Array
  readonly subject: PackageOfRecord
}

/** The chains of one thread's packages (version 2), by package id. */
export type PackageChains = Map<string, ChainProgress>

/** Recomputes the link of the next entry. */
export function followChain(
  chains: PackageChains,
  subject: PackageOfRecord,
  { chain, event, proof }: EvidenceEntry,
): void {
  const known = chains.get(subject.package_id) ?? startChain(subject)
  chains.set(subject.package_id, known)
  const position = known.position + 1
  const isLinked = chain?.position === position && chain.previous_hash === hexOf(known.link)
  const link = nextLink(known.link, {
    position,
    kind: proof.kind,
    visibility: chain?.visibility ?? 'both',
    bodyHash: bodyHash(entryBody({ event, proof })),
  })
  if (!isLinked || chain.hash !== hexOf(link))
    throw new BackupContradiction(`The audit chain of ${subject.package_id} is broken at entry ${position}.`)
  known.position = position
  known.link = link
}

function startChain(subject: PackageOfRecord): ChainProgress {
  const link = chainStart({
    packageId: subject.package_id,
    threadId: subject.thread_id,
    contentDigest: subject.content_digest,
    receiptSignature: subject.receipt_signature,
  })
  return { position: 0, link, subject }
}

/** Each chain ends where its package says. */
export function checkEnds(chains: PackageChains): void {
  for (const { position, link, subject } of chains.values()) {
    const { package_id, end_position, end_link } = subject
    if (end_position !== position || end_link === null || hexOf(end_link) !== hexOf(link))
      throw new BackupContradiction(`The audit chain of ${package_id} does not end where its package says.`)
  }
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('hex')
}
