import { parseStrictJson } from '@agent-exchange/crypto'
import {
  isPackageHead,
  MAXIMUM_NOTE_BYTES,
  tilePath,
  TILE_WIDTH,
  tileWidth,
  type PackageHead,
  type ReadTile,
  type TileName,
} from '@agent-exchange/log'
import {
  logHeadPage,
  logHistory,
  logKey,
  logKeyEventPage,
  logRecordPage,
  validatorOf,
  type LoggedKeyEvent,
  type LoggedRecord,
  type LogHistory,
  type LogKey,
  type Named,
} from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'

/** A context whose requests to the log end at a signal. */
export type LogContext = AgentContext & { readonly signal?: AbortSignal }

/** Largest JSON answer of the log. */
const MAXIMUM_ANSWER_BYTES = 16_777_216
/** A bundle of 256 leaves of 64 bytes has 16,896 bytes; entries of later versions may be longer. */
const MAXIMUM_TILE_BYTES = 1_048_576
const HASH_LENGTH = 32

/** The vkeys that the exchange publishes for its log. */
export async function fetchLogKeys(context: LogContext): Promise<LogKey> {
  return readJson(await get(context, 'key', MAXIMUM_ANSWER_BYTES), logKey)
}

/** The newest published checkpoint; undefined until there is one. */
export async function fetchCheckpoint(context: LogContext): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await get(context, 'checkpoint', MAXIMUM_NOTE_BYTES))
  } catch (error) {
    if (isUnknownToLog(error)) return undefined
    throw error
  }
}

/** Leaves of the records of a thread or a package to which this agent's organization is a party. */
export async function fetchRecords(
  context: AgentContext,
  subject: { readonly thread_id: string } | { readonly package_id: string },
): Promise<LoggedRecord[]> {
  const records: LoggedRecord[] = []
  await readAll(context, 'records', { ...subject }, logRecordPage, (each) => records.push(...each.records))
  return records
}

/** Where the exchange says that the chains of this organization's packages end; packages of version 1 have none. */
export async function fetchHeads(
  context: AgentContext,
  subject: { readonly thread_id: string } | { readonly package_id: string },
): Promise<PackageHead[]> {
  const heads: object[] = []
  await readAll(context, 'heads', { ...subject }, logHeadPage, (each) => heads.push(...each.heads))
  if (heads.every(isPackageHead)) return heads
  throw new ExchangeError('exchange_answer_unreadable', { what: 'A statement about a chain is malformed.' })
}

export async function fetchKeyEvents(context: AgentContext, agentId: string): Promise<LoggedKeyEvent[]> {
  const events: LoggedKeyEvent[] = []
  await readAll(context, 'key-events', { agent_id: agentId }, logKeyEventPage, (each) =>
    events.push(...each.events),
  )
  return events
}

/**
 * Reads tiles of the published log, each once. A tile that was partial at `size` may have been replaced by the full
 * one since, which holds the same hashes first.
 */
export function tileReader(context: LogContext, size: number): ReadTile {
  const known = new Map<string, Promise<Uint8Array>>()
  return async (name) => {
    const width = Math.max(name.width, tileWidth(name, size))
    const path = tilePath({ ...name, width })
    const bytes = await (known.get(path) ?? remember(path, fetchTile(context, { ...name, width })))
    return bytes.subarray(0, name.width * HASH_LENGTH)
  }

  function remember(path: string, tile: Promise<Uint8Array>): Promise<Uint8Array> {
    known.set(path, tile)
    return tile
  }
}

export async function fetchTile(context: LogContext, tile: TileName): Promise<Uint8Array> {
  try {
    return await get(context, tilePath(tile), MAXIMUM_TILE_BYTES)
  } catch (error) {
    if (!isUnknownToLog(error) || tile.width === TILE_WIDTH) throw error
    return get(context, tilePath({ ...tile, width: TILE_WIDTH }), MAXIMUM_TILE_BYTES)
  }
}

/** Checkpoints before and after each of these leaves; none from an exchange that does not serve them. */
export async function fetchHistory(
  context: AgentContext,
  indexes: readonly number[],
): Promise<LogHistory | undefined> {
  const query = new URLSearchParams(indexes.map((index): [string, string] => ['index', String(index)]))
  try {
    return readJson(await get(context, `history?${query.toString()}`, MAXIMUM_ANSWER_BYTES), logHistory)
  } catch (error) {
    if (isUnknownToLog(error)) return undefined
    throw error
  }
}

/** Pages of one list; far beyond what a thread has. */
const MAXIMUM_PAGES = 10_000

async function readAll<P extends { readonly has_more: boolean; readonly next_cursor?: string | null }>(
  context: AgentContext,
  path: string,
  subject: Readonly<Record<string, string>>,
  schema: Named<P>,
  take: (page: P) => unknown,
): Promise<void> {
  let after: string | undefined
  for (let pages = 0; pages < MAXIMUM_PAGES; pages++) {
    const query = new URLSearchParams({ ...subject, ...(after !== undefined && { after }) })
    const one = readJson(await get(context, `${path}?${query.toString()}`, MAXIMUM_ANSWER_BYTES), schema)
    take(one)
    if (!one.has_more || typeof one.next_cursor !== 'string' || one.next_cursor === after) return
    after = one.next_cursor
  }
  throw new ExchangeError('exchange_answer_unreadable', { what: 'The log answers with too many pages.' })
}

function get({ connection, signal }: LogContext, path: string, maximumBytes: number): Promise<Uint8Array> {
  return connection.download(`${connection.baseUrl}/log/${path}`, { maximumBytes, ...(signal && { signal }) })
}

function readJson<T>(bytes: Uint8Array, schema: Named<T>): T {
  try {
    const value: unknown = parseStrictJson(bytes)
    if (validatorOf(schema).accepts(value)) return value
  } catch (cause) {
    throw new ExchangeError('exchange_answer_unreadable', { cause })
  }
  throw new ExchangeError('exchange_answer_unreadable', {
    what: 'The response of the log has an unexpected format.',
  })
}

export function isUnknownToLog(error: unknown): boolean {
  return error instanceof ExchangeError && error.details['status'] === 404
}
