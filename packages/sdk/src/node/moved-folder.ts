import { parseStrictJson } from '@agent-exchange/crypto'
import { shapeValidator, type Shape } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import { ExchangeError } from '../errors.ts'
import { readPrivateFile, writePrivateFile } from './private-file.ts'

const FORMAT = 'aex-agent-moved'
const VERSION = 1
const text = Type.String({ minLength: 1, maxLength: 4_096 })
const movedFile = Type.Object(
  {
    format: Type.Literal(FORMAT),
    version: Type.Literal(VERSION),
    agent_id: text,
    /** Which gateway, in words. */
    moved_to: text,
    moved_at: text,
  },
  { additionalProperties: false },
)
const moved = shapeValidator(movedFile, 'SDK')

/** Where the agent of a folder went, and when. */
export type Move = Omit<Shape<typeof movedFile>, 'format' | 'version'>

/** Undefined: the agent is still in its folder. A file that cannot be read is a move too, because two would run. */
export async function readMove(file: string): Promise<Move | undefined> {
  const found = await readPrivateFile(file)
  if (!found) return undefined
  try {
    const content: unknown = parseStrictJson(found.text)
    if (moved.accepts(content)) return content
  } catch {
    // Refused below.
  }
  throw new ExchangeError('agent_folder_unreadable', {
    what: `${file} says where the agent moved to, and is damaged.`,
    details: { file },
  })
}

export async function requireNotMoved(file: string): Promise<void> {
  const move = await readMove(file)
  if (!move) return
  throw new ExchangeError('agent_folder_moved', {
    what: `${move.agent_id} moved to ${move.moved_to} at ${move.moved_at}.`,
    details: { file },
  })
}

export function writeMove(file: string, { agent_id, moved_to, moved_at }: Move): Promise<void> {
  const content = { format: FORMAT, version: VERSION, agent_id, moved_to, moved_at }
  return writePrivateFile(file, `${JSON.stringify(content, undefined, 2)}\n`)
}
