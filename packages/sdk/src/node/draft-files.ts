import { mkdir, readdir, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { parseStrictJson } from '@agent-exchange/crypto'
import { isDraftId } from '../drafts/draft-document.ts'
import { MAXIMUM_OPEN_DRAFTS, MAXIMUM_SENT_DRAFTS } from '../drafts/draft-limits.ts'
import {
  draftRecord,
  draftSent,
  draftUnreadable,
  newDraftRecord,
  requireDraftSize,
  sentDraftRecord,
  type DraftRecord,
  type DraftStore,
  type SentDraftRecord,
} from '../drafts/draft-store.ts'
import { ExchangeError } from '../errors.ts'
import { withFileLock } from './file-lock.ts'
import { isOpenToOthers, readPrivateFile, writePrivateFile } from './private-file.ts'

const OWNER_ONLY_FOLDER = 0o700
const ENDING = '.json'
/** The drafts of one folder as files: `ID.json` while open, `sent/ID.json` afterwards. */
export function openDraftFiles(folder: string): DraftStore {
  const sentFolder = join(folder, 'sent')
  const openPath = (draftId: string) => join(folder, requireId(draftId) + ENDING)
  const sentPath = (draftId: string) => join(sentFolder, requireId(draftId) + ENDING)

  async function locked<T>(work: () => Promise<T>): Promise<T> {
    await mkdir(sentFolder, { recursive: true, mode: OWNER_ONLY_FOLDER })
    return withFileLock(join(folder, '.lock'), work)
  }

  async function find(draftId: string): Promise<DraftRecord | undefined> {
    const content = await readJson(openPath(draftId), draftId)
    if (content === undefined) return undefined
    if (draftRecord.accepts(content) && content.draft_id === draftId) return content
    throw draftUnreadable(draftId)
  }

  async function findSent(draftId: string): Promise<SentDraftRecord | undefined> {
    const content = await readJson(sentPath(draftId), draftId)
    if (content === undefined) return undefined
    if (sentDraftRecord.accepts(content) && content.draft_id === draftId) return content
    throw draftUnreadable(draftId)
  }

  async function read(draftId: string): Promise<DraftRecord> {
    const found = await find(draftId)
    if (found) return found
    await requireUnsent(draftId)
    throw new ExchangeError('draft_missing', { details: { draftId } })
  }

  async function requireUnsent(draftId: string): Promise<void> {
    const sent = await findSent(draftId)
    if (sent) throw draftSent(sent)
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
        const file = newDraftRecord(draft)
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

async function write(path: string, content: DraftRecord | SentDraftRecord): Promise<void> {
  const written = `${JSON.stringify(content, undefined, 2)}\n`
  requireDraftSize(written)
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
    throw draftUnreadable(draftId, cause)
  }
}
