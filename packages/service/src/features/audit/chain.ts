import { hash as digest } from 'node:crypto'
import { nextLink, visibilityOf } from '@agent-exchange/log'
import { bodyText, linkedText, quoted, type EntryText, type Link } from './entry-text.ts'

/** A new audit entry of a package. */
export interface AuditDraft {
  readonly threadId: string
  readonly packageId: string
  /** These two label the record in the transparency log. */
  readonly contentDigest: string
  readonly receiptSignature: string
  readonly senderOrgId: string
  readonly recipientOrgId: string
  readonly text: EntryText
  /** The time of the request. The chain records the time of its previous entry if that is later. */
  readonly now: string
  /** Set for entries of a policy receipt, whose row stores their text. */
  readonly policyReceiptId?: string
}

/** The end of a thread's audit entries. */
export interface ThreadEnd {
  /** Of entries of both versions. */
  readonly count: number
  /** Of the last entry of version 1, whose chain runs through the thread. */
  readonly hash: string | null
  /** Time of the last entry; empty for a thread without entries. */
  readonly recordedAt: string
}

/** The end of a thread without entries. */
export const EMPTY_THREAD: ThreadEnd = { count: 0, hash: null, recordedAt: '' }

/** The end of the chain of one package (version 2). */
export interface ChainEnd {
  readonly position: number
  readonly link: Uint8Array
}

export interface AuditEnds {
  readonly threads: ReadonlyMap<string, ThreadEnd>
  /** Of packages that have a chain of their own. All others are of version 1. */
  readonly packages: ReadonlyMap<string, ChainEnd>
}

/** A row of consecutive entries about one package with the same parties; most packages have four. */
export interface AuditRecord {
  readonly thread_id: string
  readonly first_position: number
  last_position: number
  /** Position of the first entry in the chain of its package; null in version 1. */
  readonly chain_position: number | null
  readonly package_id: string
  readonly sender_org_id: string
  readonly recipient_org_id: string
  readonly policy_receipt_id: string | null
  readonly entries: string[]
  readonly logged: LoggedThreadEntries | LoggedChain
}

interface Labelled {
  readonly contentDigest: string
  readonly receiptSignature: string
}

/** What the leaf of a record of version 1 covers beyond the columns of its row. */
interface LoggedThreadEntries extends Labelled {
  readonly previousHash: string | null
  readonly entryHashes: string[]
}

/** The same in version 2. Positions are those in the chain of the package. */
interface LoggedChain extends Labelled {
  readonly firstPosition: number
  lastPosition: number
  readonly linkBefore: Uint8Array
  lastLink: Uint8Array
}

/**
 * Links drafts to the ends of their chains. O-43: the recorded time never precedes that of the previous entry of the
 * thread, although processes have different clocks and get the thread's lock in any order.
 */
export function linkEntries(ends: AuditEnds, drafts: readonly AuditDraft[]) {
  const threads = new Map(ends.threads)
  const packages = new Map(ends.packages)
  const records: AuditRecord[] = []
  for (const draft of drafts) {
    const thread = threads.get(draft.threadId) ?? EMPTY_THREAD
    const chain = packages.get(draft.packageId)
    // Both are UTC with milliseconds, so they compare as strings.
    const recordedAt = thread.recordedAt > draft.now ? thread.recordedAt : draft.now
    const count = thread.count + 1
    if (chain) {
      const next = linkToPackage(records, draft, { chain, position: count, recordedAt })
      packages.set(draft.packageId, next)
      threads.set(draft.threadId, { count, hash: thread.hash, recordedAt })
    } else {
      const hash = linkToThread(records, draft, { position: count, previous: thread.hash, recordedAt })
      threads.set(draft.threadId, { count, hash, recordedAt })
    }
  }
  return { records, ends: { threads, packages } }
}

interface PackageLink {
  readonly chain: ChainEnd
  /** In the thread. */
  readonly position: number
  readonly recordedAt: string
}

function linkToPackage(
  records: AuditRecord[],
  draft: AuditDraft,
  { chain, position, recordedAt }: PackageLink,
): ChainEnd {
  const { kind } = draft.text
  const body = bodyText(draft.text, recordedAt)
  const end = {
    position: chain.position + 1,
    link: nextLink(chain.link, {
      position: chain.position + 1,
      kind,
      visibility: visibilityOf(kind),
      bodyHash: digest('sha256', body, 'buffer'),
    }),
  }
  const hash = hexOf(end.link)
  const last = records.at(-1)
  const isContinued = last !== undefined && continues(last, draft)
  // The format that `StoredEntry` reads. The first entry of a record also has the link before it.
  const before = isContinued ? '' : `"previous_hash":"${hexOf(chain.link)}",`
  const entry =
    draft.policyReceiptId === undefined
      ? `{${before}"entry":${body},"hash":"${hash}"}`
      : `{${before}"recorded_at":"${recordedAt}","hash":"${hash}"}`
  if (isContinued && 'lastLink' in last.logged) {
    last.last_position = position
    last.entries.push(entry)
    last.logged.lastPosition = end.position
    last.logged.lastLink = end.link
  } else {
    const { contentDigest, receiptSignature } = draft
    const positions = { firstPosition: end.position, lastPosition: end.position }
    const links = { linkBefore: chain.link, lastLink: end.link }
    const logged = { contentDigest, receiptSignature, ...positions, ...links }
    records.push(startRecord(draft, { position, chainPosition: end.position, entry, logged }))
  }
  return end
}

/** The hash of an entry of version 1 is SHA-256 over RFC 8785 of the entry as shown in evidence, without its own hash. */
function linkToThread(records: AuditRecord[], draft: AuditDraft, link: Link): string {
  const text = linkedText(draft.text, link)
  const own = digest('sha256', text, 'hex')
  const entry =
    draft.policyReceiptId === undefined ? `{"entry":${text},"hash":"${own}"}` : linkOnlyEntry(link, own)
  const last = records.at(-1)
  if (last && continues(last, draft) && 'entryHashes' in last.logged) {
    last.last_position = link.position
    last.entries.push(entry)
    last.logged.entryHashes.push(own)
  } else {
    const { contentDigest, receiptSignature } = draft
    const logged = { contentDigest, receiptSignature, previousHash: link.previous, entryHashes: [own] }
    records.push(startRecord(draft, { position: link.position, chainPosition: null, entry, logged }))
  }
  return own
}

function linkOnlyEntry({ position, previous, recordedAt }: Link, hash: string): string {
  return `{"position":${position},"previous_hash":${quoted(previous)},"recorded_at":"${recordedAt}","hash":"${hash}"}`
}

function continues(record: AuditRecord, draft: AuditDraft): boolean {
  return (
    record.thread_id === draft.threadId &&
    record.package_id === draft.packageId &&
    record.sender_org_id === draft.senderOrgId &&
    record.recipient_org_id === draft.recipientOrgId
  )
}

interface FirstEntry {
  readonly position: number
  readonly chainPosition: number | null
  readonly entry: string
  readonly logged: AuditRecord['logged']
}

function startRecord(draft: AuditDraft, { position, chainPosition, entry, logged }: FirstEntry): AuditRecord {
  return {
    thread_id: draft.threadId,
    first_position: position,
    last_position: position,
    chain_position: chainPosition,
    package_id: draft.packageId,
    sender_org_id: draft.senderOrgId,
    recipient_org_id: draft.recipientOrgId,
    policy_receipt_id: draft.policyReceiptId ?? null,
    entries: [entry],
    logged,
  }
}

function hexOf(bytes: Uint8Array): string {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('hex')
}
