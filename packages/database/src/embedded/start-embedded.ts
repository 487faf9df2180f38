import { createHmac } from 'node:crypto'
import { openDatabase, type SocketTarget } from '../database.ts'
import { prepareCluster, SUPERUSER } from './cluster.ts'
import { readServerFile, stopServer } from './leftover-server.ts'
import { preparePlace } from './place.ts'
import { processesIn } from './processes.ts'
import { prepareRuntime } from './runtime.ts'
import { runServer, type ServerProcess } from './server-process.ts'
import { serverSettings, type ServerSettings } from './settings.ts'
import { makeSocketDirectory, removeSocketDirectory } from './socket-directory.ts'
import { lockDataDirectory, makeDataDirectory } from './start-lock.ts'

/** Role and database of the service: it owns its tables and is no superuser. */
export const SERVICE_ROLE = 'agent_exchange'

export interface EmbeddedOptions {
  readonly dataDirectory: string
  /** Takes progress lines: where things are, what is slow, what went wrong. */
  readonly log: (line: string) => void
  /** Server settings instead of ours. Only tests turn durability off. */
  readonly settings?: ServerSettings
}

/** A running PostgreSQL of our own. Disposing of it stops the server and frees the data folder. */
export interface EmbeddedDatabase extends AsyncDisposable {
  /** For `openDatabase`: the service's own database. */
  readonly connection: SocketTarget
  /** The same server as superuser: backups, maintenance. */
  readonly administration: SocketTarget
  /** Such as 18.4. */
  readonly version: string
  /** Folder of PostgreSQL's files. */
  readonly location: string
  readonly pid: () => number
  /** Resolves when the server died and could not be brought back. */
  readonly failed: Promise<Error>
}

/**
 * Starts the PostgreSQL that npm brought on a private socket, durable by default.
 *
 * @throws {DatabaseFailure} with a sentence that says what to do
 */
export async function startEmbedded({
  dataDirectory,
  log,
  settings = {},
}: EmbeddedOptions): Promise<EmbeddedDatabase> {
  makeDataDirectory(dataDirectory)
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  cleanup.use(lockDataDirectory(dataDirectory))
  const place = preparePlace(dataDirectory, log)
  const runtime = prepareRuntime(place, log)
  const effective = serverSettings(settings)
  // We hold the lock, so whoever started a server that still runs here is gone.
  if (processesIn(place.cluster).length > 0)
    log('Stopping the PostgreSQL that an earlier process left behind')
  const { socketDirectory: former } = readServerFile(place.cluster)
  await stopServer(place.cluster)
  if (former !== '') removeSocketDirectory(former, place)
  const password = await prepareCluster(place, runtime, { log, durable: effective['fsync'] !== 'off' })

  const port = Number(effective['port'])
  const socketDirectory = makeSocketDirectory(place, port)
  cleanup.defer(() => removeSocketDirectory(socketDirectory, place))
  const server: ServerProcess = await runServer({
    place,
    runtime,
    socketDirectory,
    settings: effective,
    log,
  })
  cleanup.defer(() => server.stop())
  const administration = { socketDirectory, port, user: SUPERUSER, password, database: 'postgres' }
  const connection = serviceTarget(administration)
  await ensureServiceDatabase(administration, connection.password)
  const release = undo.move()
  return {
    connection,
    administration,
    version: runtime.version,
    location: place.cluster,
    pid: server.pid,
    failed: server.failed,
    [Symbol.asyncDispose]: () => release.disposeAsync(),
  }
}

/** The connection of the service to a server that the superuser can reach. */
export function serviceTarget(administration: SocketTarget): SocketTarget {
  const password = servicePassword(administration.password)
  return { ...administration, user: SERVICE_ROLE, password, database: SERVICE_ROLE }
}

/** One that does not open the superuser's door: whoever reads the service's memory or address has no more than it. */
function servicePassword(superuserPassword: string): string {
  return createHmac('sha256', superuserPassword).update(SERVICE_ROLE).digest('base64url')
}

const UNPRIVILEGED = 'nosuperuser nocreatedb nocreaterole noreplication nobypassrls'

/** The password is base64url, so it may stand in the statement as it is. Set at every start: a restore changes it. */
async function ensureServiceDatabase(administration: SocketTarget, password: string): Promise<void> {
  const sql = openDatabase({ target: administration, maximumConnections: 1, applicationName: 'aex start' })
  try {
    const [role] = await sql`select 1 from pg_roles where rolname = ${SERVICE_ROLE}`
    const verb = role ? 'alter' : 'create'
    await sql.unsafe(`${verb} role ${SERVICE_ROLE} login ${UNPRIVILEGED} password '${password}'`)
    const [database] = await sql`select 1 from pg_database where datname = ${SERVICE_ROLE}`
    if (!database) await sql.unsafe(`create database ${SERVICE_ROLE} owner ${SERVICE_ROLE}`)
  } finally {
    await sql.end()
  }
}
