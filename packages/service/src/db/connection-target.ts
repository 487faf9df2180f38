import { DatabaseFailure } from './database-failure.ts'
import type { ConnectionOptions } from './wire/connection.ts'

/** A postgres:// address, or where the embedded server listens. */
export type ConnectionTarget = string | SocketTarget

export interface SocketTarget {
  readonly socketDirectory: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
}

const CONNECT_TIMEOUT_MS = 10_000
const KEEP_ALIVE_AFTER_MS = 60_000

interface Session {
  readonly applicationName: string
  readonly settings: Readonly<Record<string, string>>
}

export function connectionOptionsOf(
  target: ConnectionTarget,
  { applicationName, settings }: Session,
): ConnectionOptions {
  const { place, query } =
    typeof target === 'string'
      ? readAddress(target)
      : { place: placeOf(target), query: new URLSearchParams() }
  return {
    client: {
      ...place,
      ssl: tlsFor(query.get('sslmode')),
      options: query.get('options') ?? '',
      application_name: query.get('application_name') ?? applicationName,
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_AFTER_MS,
    },
    settings,
    hasNamedStatements: query.get('prepare') !== 'false',
  }
}

type Place = Pick<ConnectionOptions['client'], 'host' | 'port' | 'user' | 'password' | 'database'>

function placeOf({ socketDirectory, ...rest }: SocketTarget): Place {
  return { host: socketDirectory, ...rest }
}

const USUAL_PORT = 5432
const BRACKETS = /^\[|\]$/gu

function readAddress(address: string): { readonly place: Place; readonly query: URLSearchParams } {
  const url = new URL(address)
  const query = url.searchParams
  const place = {
    // As libpq spells a socket in an address: the host is a parameter that begins with a slash.
    host: query.get('host') ?? url.hostname.replaceAll(BRACKETS, ''),
    port: url.port === '' ? USUAL_PORT : Number(url.port),
    user: decodeURIComponent(url.username),
    password: decodeURIComponent(url.password),
    database: decodeURIComponent(url.pathname.slice(1)),
  }
  return { place, query }
}

/** As libpq names them; `require` encrypts, and does not ask who is there. */
function tlsFor(mode: string | null): ConnectionOptions['client']['ssl'] {
  switch (mode) {
    case null:
    case 'disable':
      return false
    case 'require':
      return { rejectUnauthorized: false }
    case 'verify-ca':
      return { checkServerIdentity: () => undefined }
    case 'verify-full':
      return {}
    default:
      throw new DatabaseFailure(
        `sslmode=${mode} is not known. Use disable, require, verify-ca or verify-full.`,
      )
  }
}

/** The same target as one line of text, for another process. */
export function addressOf({ socketDirectory, port, user, password, database }: SocketTarget): string {
  const credentials = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`
  const host = encodeURIComponent(socketDirectory)
  return `postgres://${credentials}@localhost:${port}/${encodeURIComponent(database)}?host=${host}`
}
