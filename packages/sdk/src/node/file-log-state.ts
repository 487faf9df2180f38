import { randomUUID } from 'node:crypto'
import { dirname, join } from 'node:path'
import { parseStrictJson } from '@agent-exchange/crypto'
import { validatorFor } from '@agent-exchange/protocol'
import { ExchangeError } from '../errors.ts'
import type { LogState, LogStateStore } from '../log/log-state.ts'
import { withFileLock } from './file-lock.ts'
import { isOpenToOthers, readPrivateFile, writePrivateFile } from './private-file.ts'

const FORMAT = 'aex-log-state'
const VERSION = 1

interface LogStateFile extends LogState {
  readonly format: typeof FORMAT
  readonly version: typeof VERSION
}

const text = { type: 'string', minLength: 1 }
const stateFile = validatorFor<LogStateFile>(
  {
    type: 'object',
    additionalProperties: false,
    required: ['format', 'version', 'keys', 'checkpoint'],
    properties: {
      format: { const: FORMAT },
      version: { const: VERSION },
      keys: { type: 'array', minItems: 1, maxItems: 16, items: text },
      checkpoint: text,
    },
  },
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
  async function read(): Promise<LogState | undefined> {
    const found = await readPrivateFile(file).catch((cause: unknown) => {
      throw unreadable(file, cause)
    })
    if (!found) return undefined
    if (isOpenToOthers(found.mode, 'write')) throw unreadable(file)
    const content = parsed(found.text, file)
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
  }
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
