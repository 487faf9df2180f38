import { join } from 'node:path'
import { addressOf, type Database, openDatabase } from '@agent-exchange/database'
import { startEmbedded } from '@agent-exchange/database/embedded'
import { freePorts } from '@agent-exchange/testkit'

/** Enough connections for several services, a naive server and peers; other settings are those of the embedded default. */
const SETTINGS = { max_connections: '400' }
const OWNER = 'agent_exchange'
const HOST = '127.0.0.1'

/** A database and its user. */
export interface DatabaseTarget {
  readonly host: string
  readonly port: number
  readonly user: string
  readonly password: string
  readonly database: string
}

/**
 * The embedded PostgreSQL with its durable defaults, started by the benchmark. It is reached over TCP, like a server of an
 * operator.
 */
export interface PostgresServer extends AsyncDisposable {
  readonly version: string
  readonly pid: () => number
  /** The service's own database. */
  readonly main: DatabaseTarget
  /** Creates an empty database. */
  create(name: string): Promise<DatabaseTarget>
  drop(name: string): Promise<void>
  /** The same database as superuser. */
  asSuperuser(target: DatabaseTarget): DatabaseTarget
  /** The URL of the same database through the Unix socket, which the embedded default uses. */
  socketUrlOf(target: DatabaseTarget): string
}

export async function startPostgres(
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const [port = 0] = await freePorts(1)
  const embedded = await startEmbedded({
    dataDirectory: join(folder, 'database'),
    log: () => undefined,
    settings: { ...SETTINGS, listen_addresses: HOST, port: String(port), ...settings },
  })
  const { connection, administration } = embedded
  const overTcp = ({ user, password, database }: typeof connection): DatabaseTarget => ({
    host: HOST,
    port,
    user,
    password,
    database,
  })
  const administer = async (statement: string) => {
    await using sql = open(overTcp(administration), 1)
    await sql.unsafe(statement)
  }
  return {
    version: embedded.version,
    pid: embedded.pid,
    main: overTcp(connection),
    async create(name) {
      await administer(`create database ${name} owner ${OWNER}`)
      return { ...overTcp(connection), database: name }
    },
    drop: (name) => administer(`drop database if exists ${name} with (force)`),
    asSuperuser: ({ database }) => ({ ...overTcp(administration), database }),
    socketUrlOf: ({ database }) => addressOf({ ...connection, database }),
    [Symbol.asyncDispose]: () => embedded[Symbol.asyncDispose](),
  }
}

/** A pool that closes with its scope. */
export function open(target: DatabaseTarget | string, maximumConnections = 2): Database & AsyncDisposable {
  const address = typeof target === 'string' ? target : urlOf(target)
  const sql = openDatabase({ target: address, maximumConnections, applicationName: 'bench' })
  return new Proxy(sql, {
    get: (of, name) =>
      name === Symbol.asyncDispose ? () => sql.end({ timeout: 5 }) : (Reflect.get(of, name) as unknown),
  }) as Database & AsyncDisposable
}

export function urlOf({ host, port, user, password, database }: DatabaseTarget): string {
  const credentials = `${encodeURIComponent(user)}:${encodeURIComponent(password)}`
  return `postgres://${credentials}@${host}:${port}/${encodeURIComponent(database)}`
}
