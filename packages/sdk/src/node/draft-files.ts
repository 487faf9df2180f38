import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseStrictJson } from '@agent-exchange/crypto'
import { shapeValidator } from '@agent-exchange/protocol'
import { Type, type Static } from 'typebox'
import { signedDecisionShape, type SignedDecision } from '../drafts/approval.ts'
import { draftDocumentShape, isDraftId } from '../drafts/draft-document.ts'
import { MAXIMUM_DRAFT_BYTES, MAXIMUM_OPEN_DRAFTS, MAXIMUM_SENT_DRAFTS } from '../drafts/draft-limits.ts'
import { ExchangeError } from '../errors.ts'
import { withFileLock } from './file-lock.ts'
import { isOpenToOthers, readPrivateFile, writePrivateFile } from './private-file.ts'

const OWNER_ONLY_FOLDER = 0o700
const ENDING = '.json'
const FORMAT = 'aex-draft'
const VERSION = 1

const text = Type.String({ minLength: 1, maxLength: 512 })
const CLOSED = { additionalProperties: false }
const described = {
  format: Type.Literal(FORMAT),
  version: Type.Literal(VERSION),
  draft_id: text,
  created_at: text,
  decision: Type.Optional(signedDecisionShape),
}

const openFileShape = Type.Object({ ...described, content: draftDocumentShape }, CLOSED)
export type DraftFile = Readonly<Static<typeof openFileShape>>
const openFile = shapeValidator(openFileShape, 'SDK')

/** A sent draft: the content is removed, the decision is kept. */
const sentFileShape = Type.Object(
  { ...described, digest: text, package_id: text, thread_id: text, sent_at: text },
  CLOSED,
)
export type SentDraftFile = Readonly<Static<typeof sentFileShape>>
const sentFile = shapeValidator(sentFileShape, 'SDK')

/** The drafts of one folder as files: `ID.json` while open, `sent/ID.json` afterwards. Several processes may use it. */
export interface DraftFiles {
  ids(): Promise<readonly string[]>
  read(draftId: string): Promise<DraftFile>
  /** Stores a new draft. Returns the stored one if it is there already. */
  add(draft: Omit<DraftFile, 'format' | 'version'>): Promise<DraftFile>
  /**
   * Replaces the decision of a draft, alone among all processes. `decide` sees what is stored; if it returns undefined,
   * nothing is written.
   */
  decide(
    draftId: string,
    decide: (draft: DraftFile) => Promise<SignedDecision | undefined>,
  ): Promise<DraftFile>
  close(
    draftId: string,
    sent: Pick<SentDraftFile, 'digest' | 'package_id' | 'thread_id' | 'sent_at'>,
  ): Promise<void>
  remove(draftId: string): Promise<void>
  findSent(draftId: string): Promise<SentDraftFile | undefined>
  sent(limit: number): Promise<readonly SentDraftFile[]>
}

export function openDraftFiles(folder: string): DraftFiles {
  const sentFolder = join(folder, 'sent')
  const openPath = (draftId: string) => join(folder, requireId(draftId) + ENDING)
  const sentPath = (draftId: string) => join(sentFolder, requireId(draftId) + ENDING)

  async function locked<T>(work: () => Promise<T>): Promise<T> {
    await mkdir(sentFolder, { recursive: true, mode: OWNER_ONLY_FOLDER })
    return withFileLock(join(folder, '.lock'), work)
  }

  async function find(draftId: string): Promise<DraftFile | undefined> {
    const content = await readJson(openPath(draftId), draftId)
    if (content === undefined) return undefined
    if (openFile.accepts(content) && content.draft_id === draftId) return content
    throw unreadable(draftId)
  }

  async function findSent(draftId: string): Promise<SentDraftFile | undefined> {
    const content = await readJson(sentPath(draftId), draftId)
    if (content === undefined) return undefined
    if (sentFile.accepts(content) && content.draft_id === draftId) return content
    throw unreadable(draftId)
  }

  async function read(draftId: string): Promise<DraftFile> {
    const found = await find(draftId)
    if (found) return found
    await requireUnsent(draftId)
    throw new ExchangeError('draft_missing', { details: { draftId } })
  }

  async function requireUnsent(draftId: string): Promise<void> {
    const sent = await findSent(draftId)
    if (!sent) return
    const { package_id: packageId, thread_id: threadId, sent_at: sentAt } = sent
    throw new ExchangeError('draft_sent', { details: { draftId, packageId, threadId, sentAt } })
  }

  return {
    ids: () => idsIn(folder),
    read,
    add: (draft) =>
      locked(async () => {
        const stored = await find(draft.draft_id)
        if (stored) return stored
        await requireUnsent(draft.draft_id)
        const { length: open } = await idsIn(folder)
        if (open >= MAXIMUM_OPEN_DRAFTS)
          throw new ExchangeError('draft_limit', { details: { open, maximum: MAXIMUM_OPEN_DRAFTS } })
        const file: DraftFile = { format: FORMAT, version: VERSION, ...draft }
        await write(openPath(draft.draft_id), file)
        return file
      }),
    decide: (draftId, decide) =>
      locked(async () => {
        const before = await read(draftId)
        const decision = await decide(before)
        if (!decision) return before
        const after = { ...before, decision }
        await write(openPath(draftId), after)
        return after
      }),
    close: (draftId, sent) =>
      locked(async () => {
        const draft = await find(draftId)
        if (!draft) return
        const { content: _, ...rest } = draft
        await makeRoom(sentFolder)
        await write(sentPath(draftId), { ...rest, ...sent })
        await rm(openPath(draftId), { force: true })
      }),
    remove: (draftId) =>
      locked(async () => {
        const path = openPath(draftId)
        if (!(await stat(path).catch(() => undefined))) await read(draftId)
        await rm(path, { force: true })
      }),
    findSent,
    async sent(limit) {
      const newest = (await byAge(sentFolder)).toReversed().slice(0, limit)
      const found = await Promise.all(newest.map((draftId) => findSent(draftId).catch(() => undefined)))
      return found.filter((file) => file !== undefined)
    },
  }
}

async function write(path: string, content: DraftFile | SentDraftFile): Promise<void> {
  const written = `${JSON.stringify(content, undefined, 2)}\n`
  const { byteLength: bytes } = new TextEncoder().encode(written)
  if (bytes > MAXIMUM_DRAFT_BYTES)
    throw new ExchangeError('draft_limit', { details: { bytes, maximumBytes: MAXIMUM_DRAFT_BYTES } })
  await writePrivateFile(path, written)
}

async function idsIn(folder: string): Promise<string[]> {
  const names = await readdir(folder).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return []
    throw error
  })
  return names
    .filter((name) => name.endsWith(ENDING) && isDraftId(name.slice(0, -ENDING.length)))
    .map((name) => name.slice(0, -ENDING.length))
}

/** Oldest first. */
async function byAge(folder: string): Promise<string[]> {
  const aged = await Promise.all(
    (await idsIn(folder)).map(async (draftId) => {
      const found = await stat(join(folder, draftId + ENDING)).catch(() => undefined)
      return { draftId, at: found?.mtimeMs ?? 0 }
    }),
  )
  return aged.toSorted((left, right) => left.at - right.at).map(({ draftId }) => draftId)
}

async function makeRoom(folder: string): Promise<void> {
  if ((await idsIn(folder)).length < MAXIMUM_SENT_DRAFTS) return
  const oldest = (await byAge(folder)).slice(0, 1 - MAXIMUM_SENT_DRAFTS)
  for (const draftId of oldest) await rm(join(folder, draftId + ENDING), { force: true })
}

/** An id becomes part of a path, so nothing else passes. */
function requireId(draftId: string): string {
  if (isDraftId(draftId)) return draftId
  throw new ExchangeError('draft_missing')
}

async function readJson(file: string, draftId: string): Promise<unknown> {
  try {
    const found = await readPrivateFile(file)
    if (!found) return undefined
    if (isOpenToOthers(found.mode, 'any')) throw new RangeError(`${file} is open to other users`)
    return parseStrictJson(found.text)
  } catch (cause) {
    throw unreadable(draftId, cause)
  }
}

function unreadable(draftId: string, cause?: unknown): ExchangeError {
  return new ExchangeError('draft_unreadable', { details: { draftId }, cause })
}
