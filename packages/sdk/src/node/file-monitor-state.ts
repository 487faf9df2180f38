import { parseStrictJson } from '@agent-exchange/crypto'
import { shapeValidator } from '@agent-exchange/protocol'
import { Type, type Static, type TSchema } from 'typebox'
import { ExchangeError } from '../errors.ts'
import type { MonitorState } from '../monitor/monitor-state.ts'
import { readPrivateFile, writePrivateFile } from './private-file.ts'

const text = Type.String({ minLength: 1 })
/** Of JSON Schema 2020-12; the tuples of TypeBox are those of draft 7. */
const pairs = <Second extends TSchema>(second: Second) =>
  Type.Array(
    Type.Unsafe<[string, Static<Second>]>({
      type: 'array',
      prefixItems: [text, second],
      minItems: 2,
      maxItems: 2,
    }),
    { maxItems: 1_000_000 },
  )
const count = Type.Integer({ minimum: 0 })
const monitorState = shapeValidator(
  Type.Object(
    {
      threads: Type.Array(text, { maxItems: 100_000 }),
      scanned: Type.Optional(text),
      found: pairs(count),
      searched: Type.Optional(pairs(count)),
      lookedBackAt: Type.Optional(text),
      waiting: Type.Optional(pairs(text)),
      cursor: Type.Optional(text),
      ownEvents: Type.Optional(Type.Array(Type.Integer({ minimum: 1 }), { maxItems: 10_000 })),
    },
    { additionalProperties: false },
  ),
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
