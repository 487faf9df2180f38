import { parseStrictJson } from '@agent-exchange/crypto'
import {
  isPackageHead,
  MAXIMUM_HISTORY,
  MAXIMUM_NOTE_BYTES,
  tilePath,
  TILE_WIDTH,
  tileWidth,
  type EarlierCheckpoint,
  type PackageHead,
  type ReadTile,
  type TileName,
} from '@agent-exchange/log'
import { validatorFor, type JsonObject } from '@agent-exchange/protocol'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'

/** A context whose requests to the log end at a signal. */
export type LogContext = AgentContext & { readonly signal?: AbortSignal }

/** Largest JSON answer of the log. */
const MAXIMUM_ANSWER_BYTES = 16_777_216
/** A bundle of 256 leaves of 64 bytes has 16,896 bytes; entries of later versions may be longer. */
const MAXIMUM_TILE_BYTES = 1_048_576
const HASH_LENGTH = 32

const text: JsonObject = { type: 'string', minLength: 1, maxLength: 262_144 }
const count: JsonObject = { type: 'integer', minimum: 0, maximum: Number.MAX_SAFE_INTEGER }
const page = (members: JsonObject, items: string, item: JsonObject): JsonObject => ({
  type: 'object',
  required: ['checkpoint', items, 'has_more'],
  properties: {
    // Null until the first checkpoint is published.
    checkpoint: { type: ['string', 'null'], maxLength: MAXIMUM_NOTE_BYTES },
    [items]: { type: 'array', maxItems: 10_000, items: item },
    next_cursor: { type: ['string', 'null'] },
    has_more: { type: 'boolean' },
    ...members,
  },
})
/** Either proved, or a promise that the log has yet to keep. */
const leaf = (required: readonly string[], properties: JsonObject): JsonObject => ({
  type: 'object',
  required: [...required],
  properties: { ...properties, salt: text, index: count, proof: text, pending: { type: 'boolean' } },
})

interface LeafState {
  readonly salt?: string
  readonly index?: number
  readonly proof?: string
  readonly pending?: boolean
}

export interface LoggedRecord extends LeafState {
  readonly package_id: string
  /** In the thread. */
  readonly first_position: number
  readonly last_position: number
  /** In the chain of the package; absent in version 1. */
  readonly chain?: { readonly first_position: number; readonly last_position: number }
}

export interface LoggedKeyEvent extends LeafState {
  readonly number: number
  readonly organization_id: string
  readonly key_id: string
  readonly kind: string
  readonly use: string
  readonly thumbprint: string
  readonly valid_from: string
  readonly recorded_at: string
  readonly invalid_from?: string
}

interface Page {
  readonly checkpoint: string | null
  readonly next_cursor?: string | null
  readonly has_more: boolean
}

export interface LogKeyAnswer {
  readonly origin: string
  readonly verifier_keys: readonly string[]
  /** Signed by the platform's statement key. */
  readonly statement: {
    readonly purpose: string
    readonly origin: string
    readonly verifier_keys: readonly string[]
    readonly signature: { readonly key_id: string }
  }
}

const vkeys: JsonObject = { type: 'array', minItems: 1, maxItems: 16, items: text }
const keyAnswer = validatorFor<LogKeyAnswer>(
  {
    type: 'object',
    required: ['origin', 'verifier_keys', 'statement'],
    properties: {
      origin: text,
      verifier_keys: vkeys,
      statement: {
        type: 'object',
        required: ['purpose', 'origin', 'verifier_keys', 'signature'],
        properties: {
          purpose: text,
          origin: text,
          verifier_keys: vkeys,
          signature: { type: 'object', required: ['key_id'], properties: { key_id: text } },
        },
      },
    },
  },
  'O-07',
)
const POSITIONS = ['first_position', 'last_position']
const recordPage = validatorFor<Page & { readonly records: readonly LoggedRecord[] }>(
  page(
    {},
    'records',
    leaf(['package_id', ...POSITIONS], {
      package_id: text,
      first_position: count,
      last_position: count,
      chain: {
        type: 'object',
        required: [...POSITIONS],
        properties: { first_position: count, last_position: count },
      },
    }),
  ),
  'O-07',
)
const KEY_EVENT_MEMBERS = [
  'organization_id',
  'key_id',
  'kind',
  'use',
  'thumbprint',
  'valid_from',
  'recorded_at',
] as const
const keyEventPage = validatorFor<Page & { readonly events: readonly LoggedKeyEvent[] }>(
  page(
    {},
    'events',
    leaf(['number', ...KEY_EVENT_MEMBERS], {
      number: count,
      ...Object.fromEntries(KEY_EVENT_MEMBERS.map((name) => [name, text])),
      invalid_from: text,
    }),
  ),
  'O-07',
)

/** The vkeys that the exchange publishes for its log. */
export async function fetchLogKeys(context: LogContext): Promise<LogKeyAnswer> {
  return readJson(await get(context, 'key', MAXIMUM_ANSWER_BYTES), keyAnswer)
}

/** The newest published checkpoint; undefined until there is one. */
export async function fetchCheckpoint(context: LogContext): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await get(context, 'checkpoint', MAXIMUM_NOTE_BYTES))
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** Leaves of the records of a thread or a package to which this agent's organization is a party. */
export async function fetchRecords(
  context: AgentContext,
  subject: { readonly thread_id: string } | { readonly package_id: string },
): Promise<LoggedRecord[]> {
  const records: LoggedRecord[] = []
  await readAll(context, 'records', { ...subject }, recordPage, (each) => records.push(...each.records))
  return records
}

const headPage = validatorFor<Omit<Page, 'checkpoint'> & { readonly heads: readonly object[] }>(
  {
    type: 'object',
    required: ['heads', 'has_more'],
    properties: {
      heads: { type: 'array', maxItems: 10_000, items: { type: 'object' } },
      next_cursor: { type: ['string', 'null'] },
      has_more: { type: 'boolean' },
    },
  },
  'O-07',
)

/** Where the exchange says that the chains of this organization's packages end; packages of version 1 have none. */
export async function fetchHeads(
  context: AgentContext,
  subject: { readonly thread_id: string } | { readonly package_id: string },
): Promise<PackageHead[]> {
  const heads: object[] = []
  await readAll(context, 'heads', { ...subject }, headPage, (each) => heads.push(...each.heads))
  if (heads.every(isPackageHead)) return heads
  throw new ExchangeError('exchange_answer_unreadable', { what: 'A statement about a chain is malformed.' })
}

export async function fetchKeyEvents(context: AgentContext, agentId: string): Promise<LoggedKeyEvent[]> {
  const events: LoggedKeyEvent[] = []
  await readAll(context, 'key-events', { agent_id: agentId }, keyEventPage, (each) =>
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
    if (!isNotFound(error) || tile.width === TILE_WIDTH) throw error
    return get(context, tilePath({ ...tile, width: TILE_WIDTH }), MAXIMUM_TILE_BYTES)
  }
}

export interface EarlierCheckpoints {
  readonly checkpoint: string
  readonly history: readonly EarlierCheckpoint[]
}

const historyAnswer = validatorFor<EarlierCheckpoints>(
  {
    type: 'object',
    required: ['checkpoint', 'history'],
    properties: {
      checkpoint: text,
      history: {
        type: 'array',
        maxItems: MAXIMUM_HISTORY,
        items: {
          type: 'object',
          required: ['checkpoint', 'consistency'],
          properties: { checkpoint: text, consistency: { type: 'array', maxItems: 64, items: text } },
        },
      },
    },
  },
  'O-07',
)

/** Checkpoints before and after each of these leaves; none from an exchange that does not serve them. */
export async function fetchHistory(
  context: AgentContext,
  indexes: readonly number[],
): Promise<EarlierCheckpoints | undefined> {
  const query = new URLSearchParams(indexes.map((index): [string, string] => ['index', String(index)]))
  try {
    return readJson(await get(context, `history?${query.toString()}`, MAXIMUM_ANSWER_BYTES), historyAnswer)
  } catch (error) {
    if (isNotFound(error)) return undefined
    throw error
  }
}

/** Pages of one list; far beyond what a thread has. */
const MAXIMUM_PAGES = 10_000

async function readAll<P extends Omit<Page, 'checkpoint'>>(
  context: AgentContext,
  path: string,
  subject: Readonly<Record<string, string>>,
  validator: { accepts(value: unknown): value is P },
  take: (page: P) => unknown,
): Promise<void> {
  let after: string | undefined
  for (let pages = 0; pages < MAXIMUM_PAGES; pages++) {
    const query = new URLSearchParams({ ...subject, ...(after !== undefined && { after }) })
    const one = readJson(await get(context, `${path}?${query.toString()}`, MAXIMUM_ANSWER_BYTES), validator)
    take(one)
    if (!one.has_more || typeof one.next_cursor !== 'string' || one.next_cursor === after) return
    after = one.next_cursor
  }
  throw new ExchangeError('exchange_answer_unreadable', { what: 'The log answers with too many pages.' })
}

function get({ connection, signal }: LogContext, path: string, maximumBytes: number): Promise<Uint8Array> {
  return connection.download(`${connection.baseUrl}/log/${path}`, { maximumBytes, ...(signal && { signal }) })
}

function readJson<T>(bytes: Uint8Array, validator: { accepts(value: unknown): value is T }): T {
  try {
    const value: unknown = parseStrictJson(bytes)
    if (validator.accepts(value)) return value
  } catch (cause) {
    throw new ExchangeError('exchange_answer_unreadable', { cause })
  }
  throw new ExchangeError('exchange_answer_unreadable', {
    what: 'The response of the log has an unexpected format.',
  })
}

export function isNotFound(error: unknown): boolean {
  return error instanceof ExchangeError && error.details['status'] === 404
}
