import postgres from 'postgres'
import { openPipelineSocket } from './pipeline-socket.ts'
import { createRenewedPool } from './renewed-pool.ts'
import { readTextArray, TEXT_ARRAY, writeTextArray } from './text-array.ts'
import { createTransactionLines } from './transaction-lines.ts'

/** The driver's types stay behind these two names. */
export type Database = postgres.Sql<Types>
export type Transaction = postgres.TransactionSql<Types>
/** Either of them: what a query needs that does not care whether it runs in a transaction. */
export type Queries = Database | Transaction

/** A statement that was written and not sent. */
export type Write = postgres.PendingQuery<postgres.Row[]>

type Types = Record<string, never>

/** A postgres:// address, or where the embedded server listens. */
export type ConnectionTarget = string | SocketTarget

export interface SocketTarget {
  readonly socketDirectory: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
}

export interface ConnectionSettings {
  readonly target: ConnectionTarget
  readonly maximumConnections: number
  readonly applicationName: string
}

/**
 * Every statement has an index to go by, and goes by it, row by row. The server would rather read a table from end to
 * end while it is small, and keeps that plan long after it has grown: on a new database until the first analysis,
 * minutes later. It would also gather all that a page could hold and sort it, instead of reading until it is full.
 *
 * So one plan does for all values, and is kept. While lists are short the server would rather make one for each
 * execution: for a single package that took it as long as carrying them out.
 */
const PLANS = {
  enable_seqscan: 'off',
  enable_bitmapscan: 'off',
  enable_hashjoin: 'off',
  enable_mergejoin: 'off',
  plan_cache_mode: 'force_generic_plan',
}

const TIMESTAMPTZ = 1184
const INT8 = 20
const STATEMENT_TIMEOUT_MS = 30_000
const CONNECT_TIMEOUT_SECONDS = 10
const LONGEST_RECONNECT_PAUSE_SECONDS = 0.5
const NEVER_SECONDS = 86_400
const END_LIMIT_SECONDS = 30

/**
 * Opens two pools that look like one: statements of their own share half of the connections, transactions get the
 * other half. Times come out as ISO 8601 UTC text, 64-bit integers as numbers.
 */
export function openDatabase({ target, maximumConnections, applicationName }: ConnectionSettings): Database {
  const half = Math.ceil(maximumConnections / 2)
  const open = (options: DriverOptions) =>
    openDriver(target, { ...commonOptions(applicationName), ...options })
  const statements = createRenewedPool((onclose) => open({ max: half, backoff: reconnectPause, onclose }))
  const transactions = createTransactionLines(
    (onclose) => open({ max: 1, backoff: () => NEVER_SECONDS, max_lifetime: null, onclose }),
    half,
  )
  const end = async ({ timeout = END_LIMIT_SECONDS } = {}) => {
    await Promise.all([transactions.end({ timeout }), statements.end({ timeout })])
  }
  const own: Record<PropertyKey, unknown> = { begin: transactions.begin, end }
  return new Proxy(statements.current(), {
    apply: (_target, self, args: unknown[]) =>
      Reflect.apply(statements.current() as unknown as (...given: unknown[]) => unknown, self, args),
    get: (_target, name) => (name in own ? own[name] : (Reflect.get(statements.current(), name) as unknown)),
  })
}

type DriverOptions = postgres.Options<Record<string, postgres.PostgresType>> & {
  /** The driver's types do not name it. */
  readonly socket?: typeof openPipelineSocket
}

function commonOptions(applicationName: string): DriverOptions {
  return {
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    onnotice: () => undefined,
    fetch_types: false,
    connection: {
      application_name: applicationName,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      TimeZone: 'UTC',
      ...PLANS,
    },
    types: {
      time: { to: TIMESTAMPTZ, from: [TIMESTAMPTZ], serialize: String, parse: isoTime },
      integer: { to: INT8, from: [INT8], serialize: String, parse: safeInteger },
      texts: { to: TEXT_ARRAY, from: [TEXT_ARRAY], serialize: writeTextArray, parse: readTextArray },
    },
  }
}

function openDriver(target: ConnectionTarget, options: DriverOptions): Database {
  const socket = typeof target === 'string' ? (socketIn(target) ?? target) : target
  if (typeof socket === 'string') {
    return postgres(socket, hasOneHost(socket) ? { ...options, socket: openPipelineSocket } : options)
  }
  const { socketDirectory, port, user, password, database } = socket
  const own = { ...options, socket: openPipelineSocket }
  return postgres({ ...own, path: `${socketDirectory}/.s.PGSQL.${port}`, user, password, database })
}

/**
 * The driver counts failures of the whole pool together, so a moment without a server looks like many of them; its
 * own pauses of up to 20 s would then hold up requests long after the server is back.
 */
function reconnectPause(failures: number): number {
  return (0.5 + Math.random() / 2) * Math.min(0.01 * 3 ** failures, LONGEST_RECONNECT_PAUSE_SECONDS)
}

/** Of several the driver itself finds the one that serves. */
function hasOneHost(address: string): boolean {
  const host = URL.parse(address)?.hostname
  return host !== undefined && host !== '' && !host.includes(',')
}

const USUAL_PORT = 5432

/** As libpq spells a socket in an address: the host is a parameter that begins with a slash. */
function socketIn(address: string): SocketTarget | undefined {
  const url = URL.parse(address)
  const socketDirectory = url?.searchParams.get('host')
  if (!url || !socketDirectory?.startsWith('/')) return undefined
  return {
    socketDirectory,
    port: url.port === '' ? USUAL_PORT : Number(url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
  }
}

/** The same target as one line of text, for another process. */
export function addressOf({ socketDirectory, port, user, password, database }: SocketTarget): string {
  const credentials = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`
  const host = encodeURIComponent(socketDirectory)
  return `postgres://${credentials}@localhost:${port}/${encodeURIComponent(database)}?host=${host}`
}

// 2026-03-02 08:00:00.123+00, as the server writes it in the zone UTC.
function isoTime(text: string): string {
  return new Date(text.replace(' ', 'T').replace('+00', 'Z')).toISOString()
}

function safeInteger(text: string): number {
  const value = Number(text)
  if (!Number.isSafeInteger(value)) throw new RangeError('an integer from the database is too large')
  return value
}
