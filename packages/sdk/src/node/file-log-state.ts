import { randomUUID } from 'node:crypto'
import { rm } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { parseStrictJson } from '@agent-exchange/crypto'
import { shapeValidator, type Shape } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import { ExchangeError } from '../errors.ts'
import type { LogState, LogStateStore } from '../log-state.ts'
import { withFileLock } from './file-lock.ts'
import { isOpenToOthers, readPrivateFile, writePrivateFile } from './private-file.ts'

const FORMAT = 'aex-log-state'
const VERSION = 1

const text = Type.String({ minLength: 1 })
const CLOSED = { additionalProperties: false }
const stateFileShape = Type.Object(
  {
    format: Type.Literal(FORMAT),
    version: Type.Literal(VERSION),
    keys: Type.Array(text, { minItems: 1, maxItems: 16 }),
    checkpoint: text,
  },
  CLOSED,
)
type LogStateFile = Shape<typeof stateFileShape>
const stateFile = shapeValidator(stateFileShape, 'SDK')

const TROUBLE_FILE = 'log-trouble.json'
const troubleFile = shapeValidator(
  Type.Object(
    {
      since: text,
      reason: Type.String(),
      unproved: Type.Optional(
        Type.Object(
          { note: text, since: text, failures: Type.Integer({ minimum: 0 }), file: Type.Optional(text) },
          CLOSED,
        ),
      ),
    },
    CLOSED,
  ),
  'SDK',
)

/**
 * The last checkpoint of the log in one file, and split views in files beside it. A damaged file is refused and never
 * taken for an empty one: that would make the next contact a first contact, in which a split view goes unnoticed.
 *
 * @example
 * const log = openFileLogState('./agent/log.json')
 */
export function openFileLogState(file: string): LogStateStore {
  const trouble = join(dirname(file), TROUBLE_FILE)

  async function read(): Promise<LogState | undefined> {
    const content = await readContent(file)
    if (content === undefined) return undefined
    if (!stateFile.accepts(content)) throw unreadable(file)
    return { keys: content.keys, checkpoint: content.checkpoint }
  }

  return {
    read,
    replace: (expected, { keys, checkpoint }) =>
      withFileLock(`${file}.lock`, async () => {
        if ((await read())?.checkpoint !== expected?.checkpoint) return false
        const content: LogStateFile = { format: FORMAT, version: VERSION, keys, checkpoint }
        await writePrivateFile(file, `${JSON.stringify(content, undefined, 2)}\n`)
        return true
      }),
    async keepSplitView(view) {
      const stamp = view.found_at.replaceAll(/\D/gu, '').slice(0, 14)
      const place = join(dirname(file), `split-view-${stamp}-${randomUUID().slice(0, 8)}.json`)
      await writePrivateFile(place, `${JSON.stringify(view, undefined, 2)}\n`)
      return place
    },
    async readTrouble() {
      const content = await readContent(trouble)
      if (content === undefined || troubleFile.accepts(content)) return content
      throw unreadable(trouble)
    },
    async writeTrouble(next) {
      if (next) await writePrivateFile(trouble, `${JSON.stringify(next, undefined, 2)}\n`)
      else await rm(trouble, { force: true })
    },
  }
}

async function readContent(file: string): Promise<unknown> {
  const found = await readPrivateFile(file).catch((cause: unknown) => {
    throw unreadable(file, cause)
  })
  if (!found) return undefined
  if (isOpenToOthers(found.mode, 'write')) throw unreadable(file)
  return parsed(found.text, file)
}

function parsed(content: string, file: string): unknown {
  try {
    return parseStrictJson(content)
  } catch (cause) {
    throw unreadable(file, cause)
  }
}

function unreadable(file: string, cause?: unknown): ExchangeError {
  return new ExchangeError('log_state_unreadable', { details: { file }, cause })
}
