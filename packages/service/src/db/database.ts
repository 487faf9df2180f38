import postgres from 'postgres'

/** The driver's types stay behind these two names. */
export type Database = postgres.Sql<Types>
export type Transaction = postgres.TransactionSql<Types>
/** Either of them: what a query needs that does not care whether it runs in a transaction. */
export type Queries = Database | Transaction

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

const TIMESTAMPTZ = 1184
const INT8 = 20
const STATEMENT_TIMEOUT_MS = 30_000
const CONNECT_TIMEOUT_SECONDS = 10

/** Opens a pool. Times come out as ISO 8601 UTC text, 64-bit integers as numbers. */
export function openDatabase({ target, maximumConnections, applicationName }: ConnectionSettings): Database {
  const options: postgres.Options<Record<string, postgres.PostgresType>> = {
    max: maximumConnections,
    connect_timeout: CONNECT_TIMEOUT_SECONDS,
    onnotice: () => undefined,
    connection: {
      application_name: applicationName,
      statement_timeout: STATEMENT_TIMEOUT_MS,
      TimeZone: 'UTC',
    },
    types: {
      time: { to: TIMESTAMPTZ, from: [TIMESTAMPTZ], serialize: String, parse: isoTime },
      integer: { to: INT8, from: [INT8], serialize: String, parse: safeInteger },
    },
  }
  const socket = typeof target === 'string' ? (socketIn(target) ?? target) : target
  if (typeof socket === 'string') return postgres(socket, options)
  const { socketDirectory, port, user, password, database } = socket
  return postgres({ ...options, path: `${socketDirectory}/.s.PGSQL.${port}`, user, password, database })
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
