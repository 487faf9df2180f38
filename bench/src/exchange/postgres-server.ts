import { join } from 'node:path'
import {
  addressOf,
  openDatabase,
  startEmbedded,
  type Database,
  type SocketTarget,
} from '@agent-exchange/service/database'

/** For several services, a naive server and peers at once; the rest stays as the embedded default has it. */
const SETTINGS = { max_connections: '400' }
const OWNER = 'agent_exchange'

/** The embedded PostgreSQL with its durable defaults, in a process of ours and with databases of ours. */
export interface PostgresServer extends AsyncDisposable {
  readonly version: string
  readonly pid: () => number
  /** The service's own database. */
  readonly main: SocketTarget
  /** Makes an empty database. */
  create(name: string): Promise<SocketTarget>
  drop(name: string): Promise<void>
  /** The same database with all rights. */
  asSuperuser(target: SocketTarget): SocketTarget
}

export async function startPostgres(
  folder: string,
  settings: Readonly<Record<string, string>> = {},
): Promise<PostgresServer> {
  const embedded = await startEmbedded({
    dataDirectory: join(folder, 'database'),
    log: () => undefined,
    settings: { ...SETTINGS, ...settings },
  })
  const administer = async (statement: string) => {
    await using sql = open(embedded.administration, 1)
    await sql.unsafe(statement)
  }
  return {
    version: embedded.version,
    pid: embedded.pid,
    main: embedded.connection,
    async create(name) {
      await administer(`create database ${name} owner ${OWNER}`)
      return { ...embedded.connection, database: name }
    },
    drop: (name) => administer(`drop database if exists ${name} with (force)`),
    asSuperuser: (target) => ({ ...embedded.administration, database: target.database }),
    [Symbol.asyncDispose]: () => embedded[Symbol.asyncDispose](),
  }
}

/** A pool that closes with its scope. */
export function open(target: SocketTarget | string, maximumConnections = 2): Database & AsyncDisposable {
  const sql = openDatabase({ target, maximumConnections, applicationName: 'bench' })
  return new Proxy(sql, {
    get: (of, name) =>
      name === Symbol.asyncDispose ? () => sql.end({ timeout: 5 }) : (Reflect.get(of, name) as unknown),
  }) as Database & AsyncDisposable
}

export const urlOf = (target: SocketTarget) => addressOf(target)
