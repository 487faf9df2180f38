import { parseStrictJson } from '@agent-exchange/crypto'
import { validatorFor } from '@agent-exchange/protocol'
import { ExchangeError } from '../errors.ts'
import type { MonitorState } from '../monitor/monitor-state.ts'
import { readPrivateFile, writePrivateFile } from './private-file.ts'

const text = { type: 'string', minLength: 1 }
const pairs = {
  type: 'array',
  maxItems: 1_000_000,
  items: { type: 'array', minItems: 2, maxItems: 2 },
}
const monitorState = validatorFor<MonitorState>(
  {
    type: 'object',
    additionalProperties: false,
    required: ['threads', 'found'],
    properties: {
      threads: { type: 'array', maxItems: 100_000, items: text },
      scanned: text,
      found: pairs,
      searched: pairs,
      lookedBackAt: text,
      waiting: pairs,
      cursor: text,
      ownEvents: { type: 'array', maxItems: 10_000, items: { type: 'integer', minimum: 1 } },
    },
  },
  'SDK',
)

/** What the monitor of an agent's folder knows; nothing at first. */
export async function readMonitorState(file: string): Promise<MonitorState> {
  const stored = await readPrivateFile(file)
  if (!stored) return { threads: [], found: [] }
  try {
    const content: unknown = parseStrictJson(stored.text)
    if (monitorState.accepts(content)) return content
  } catch (cause) {
    throw new ExchangeError('log_state_unreadable', { details: { file }, cause })
  }
  throw new ExchangeError('log_state_unreadable', { details: { file } })
}

export function writeMonitorState(file: string, state: MonitorState): Promise<void> {
  return writePrivateFile(file, `${JSON.stringify(state)}\n`)
}
