import { shapeValidator } from '@agent-exchange/protocol'
import { Type, type Static } from 'typebox'
import { ExchangeError } from '../errors.ts'
import { signedDecisionShape, type SignedDecision } from './approval.ts'
import { draftDocumentShape } from './draft-document.ts'
import { MAXIMUM_DRAFT_BYTES } from './draft-limits.ts'

const FORMAT = 'aex-draft'
const VERSION = 1

const shortText = Type.String({ minLength: 1, maxLength: 512 })
const CLOSED = { additionalProperties: false }
const described = {
  format: Type.Literal(FORMAT),
  version: Type.Literal(VERSION),
  draft_id: shortText,
  created_at: shortText,
  decision: Type.Optional(signedDecisionShape),
}

const storedShape = Type.Object({ ...described, content: draftDocumentShape }, CLOSED)
export type DraftRecord = Readonly<Static<typeof storedShape>>
export const draftRecord = shapeValidator(storedShape, 'SDK')

/** A sent draft: the content is removed, the decision is kept. */
const sentShape = Type.Object(
  { ...described, digest: shortText, package_id: shortText, thread_id: shortText, sent_at: shortText },
  CLOSED,
)
export type SentDraftRecord = Readonly<Static<typeof sentShape>>
export const sentDraftRecord = shapeValidator(sentShape, 'SDK')

/** Where the drafts of one agent are kept. Several processes may use it. */
export interface DraftStore {
  ids(): Promise<readonly string[]>
  read(draftId: string): Promise<DraftRecord>
  /** Stores a new draft. Returns the stored one if it is there already. */
  add(draft: Omit<DraftRecord, 'format' | 'version'>): Promise<DraftRecord>
  /**
   * Replaces the decision of a draft, alone among all processes. `decide` sees what is stored; if it returns undefined,
   * nothing is written.
   */
  decide(
    draftId: string,
    decide: (draft: DraftRecord) => Promise<SignedDecision | undefined>,
  ): Promise<DraftRecord>
  close(
    draftId: string,
    sent: Pick<SentDraftRecord, 'digest' | 'package_id' | 'thread_id' | 'sent_at'>,
  ): Promise<void>
  remove(draftId: string): Promise<void>
  findSent(draftId: string): Promise<SentDraftRecord | undefined>
  sent(limit: number): Promise<readonly SentDraftRecord[]>
}

/** A new draft as it is stored; `draft_limit` if it is too large. */
export function newDraftRecord(draft: Omit<DraftRecord, 'format' | 'version'>): DraftRecord {
  const record: DraftRecord = { format: FORMAT, version: VERSION, ...draft }
  requireDraftSize(JSON.stringify(record))
  return record
}

export function requireDraftSize(json: string): void {
  const { byteLength: bytes } = new TextEncoder().encode(json)
  if (bytes > MAXIMUM_DRAFT_BYTES)
    throw new ExchangeError('draft_limit', { details: { bytes, maximumBytes: MAXIMUM_DRAFT_BYTES } })
}

export function draftUnreadable(draftId: string, cause?: unknown): ExchangeError {
  return new ExchangeError('draft_unreadable', { details: { draftId }, cause })
}

export function draftSent(sent: SentDraftRecord): ExchangeError {
  const { draft_id: draftId, package_id: packageId, thread_id: threadId, sent_at: sentAt } = sent
  return new ExchangeError('draft_sent', { details: { draftId, packageId, threadId, sentAt } })
}
