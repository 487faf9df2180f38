import { hash as digest } from 'node:crypto'
import { canonicalize } from '@agent-exchange/crypto'
import { ONE_SIDED_KINDS, visibilityOf } from '@agent-exchange/log'
import type { EvidenceEntry, HiddenEvidenceEntry } from '@agent-exchange/protocol'
import { bodyText, fromLines, linkedText, type EntryText } from './entry-text.ts'

/** A record as stored, with the text of its first entries. */
export interface StoredRecord {
  readonly package_id: string
  readonly first_position: number
  /** Of its first entry in the chain of the package; null in version 1. */
  readonly chain_position: number | null
  readonly entries: string
  /** The text of the first entries, from the policy receipt. */
  readonly receipt_entries: string | null
}

/** The entries of a record as shown in evidence. */
export function entriesOf(record: StoredRecord): EvidenceEntry[] {
  return record.chain_position === null ? threadEntries(record) : chainEntries(record)
}

/** An entry of version 1 as hashed, and its hash. */
interface FullEntry {
  readonly entry: EvidenceEntry
  readonly hash: string
}

/** An entry whose text is stored with its policy receipt: its link and hash. */
interface LinkOnlyEntry {
  readonly position: number
  readonly previous_hash: string | null
  /** Missing in entries of the first release, whose text contains the time. */
  readonly recorded_at?: string
  readonly hash: string
}

function threadEntries({ entries, receipt_entries }: StoredRecord): EvidenceEntry[] {
  const texts = textsIn(receipt_entries)
  return (JSON.parse(entries) as (FullEntry | LinkOnlyEntry)[]).map((stored, index) => {
    const entry = 'entry' in stored ? stored.entry : linked(texts[index], stored)
    return { ...entry, proof: { ...entry.proof, hash: stored.hash } }
  })
}

function linked(given: EntryText | undefined, link: LinkOnlyEntry): EvidenceEntry {
  const text = present(given)
  const { position, previous_hash: previous, recorded_at } = link
  const recordedAt = recorded_at ?? present(text.recordedAt)
  return JSON.parse(linkedText(text, { position, previous, recordedAt })) as EvidenceEntry
}

type Body = Pick<EvidenceEntry, 'event' | 'proof'>

/** An entry of version 2: its body, or only the time where its text is stored with its policy receipt. */
type ChainedEntry = {
  /** Only in the first entry of a record. */
  readonly previous_hash?: string
  readonly hash: string
} & ({ readonly entry: Body } | { readonly recorded_at: string })

function chainEntries(record: StoredRecord): EvidenceEntry[] {
  return placedEntries(record).map(({ body, position, chain }) => ({
    ...body,
    position,
    chain: { ...chain, visibility: visibilityOf(body.proof.kind) },
  }))
}

/** Placeholders of the entries of a record that an organization may not read. */
export function hiddenEntriesOf(record: StoredRecord): HiddenEvidenceEntry[] {
  return placedEntries(record).map(({ body, position, chain }) => {
    const { kind } = body.proof
    if (!ONE_SIDED_KINDS.has(kind)) throw new Error(`an audit entry ${kind} cannot be hidden`)
    const body_hash = digest('sha256', canonicalize(body), 'hex')
    return { position, kind, chain: { ...chain, visibility: 'one', body_hash } }
  })
}

function placedEntries(record: StoredRecord) {
  const { package_id, first_position, chain_position, entries, receipt_entries } = record
  const texts = textsIn(receipt_entries)
  let previous: string | undefined
  return (JSON.parse(entries) as ChainedEntry[]).map((stored, index) => {
    const body =
      'entry' in stored
        ? stored.entry
        : (JSON.parse(bodyText(present(texts[index]), stored.recorded_at)) as Body)
    const previous_hash = present(stored.previous_hash ?? previous)
    previous = stored.hash
    const chain = { package_id, position: (chain_position ?? 1) + index, previous_hash, hash: stored.hash }
    return { body, position: first_position + index, chain }
  })
}

function textsIn(receiptEntries: string | null): EntryText[] {
  return receiptEntries === null ? [] : fromLines(receiptEntries)
}

function present<T>(part: T | undefined): T {
  if (part === undefined) throw new Error('a part of an audit record is missing')
  return part
}
