import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { addressOf, openDatabase, type Database } from './database.ts'
import { preparePlace } from './embedded/place.ts'
import { prepareRuntime } from './embedded/runtime.ts'
import { runServer } from './embedded/server-process.ts'
import { serverSettings } from './embedded/settings.ts'
import { makeSocketDirectory, removeSocketDirectory } from './embedded/socket-directory.ts'
import { startEmbedded } from './embedded/start-embedded.ts'
import { testFolder } from './embedded/test-folder.fixture.ts'

export interface StreamingPair extends AsyncDisposable {
  /** As the service connects. */
  readonly primaryUrl: string
  readonly standbyUrl: string
  /** The standby as superuser, in the database `postgres`. */
  readonly standbyAdministrationUrl: string
  readonly standbyAdministration: Database
  stopStandby(): Promise<void>
}

const silent = () => undefined

/** A primary and a streaming standby, both from the embedded binaries. */
export async function startStreamingPair(): Promise<StreamingPair> {
  await using undo = new AsyncDisposableStack()
  const folder = undo.use(testFolder())
  const settings = { fsync: 'off', max_wal_senders: '4', max_connections: '60' }
  const start = () => startEmbedded({ dataDirectory: folder.data, log: silent, settings })
  // pg_basebackup is not among the binaries: the standby starts from a copy of a stopped primary.
  await (await start())[Symbol.asyncDispose]()
  const copy = join(folder.path, 'standby')
  execFileSync('cp', ['-a', folder.data, copy])
  const primary = undo.use(await start())
  const { socketDirectory: host, port, user, password } = primary.administration
  const place = preparePlace(copy, silent)
  writeFileSync(join(place.cluster, 'standby.signal'), '')
  const socketDirectory = makeSocketDirectory(place, port)
  undo.defer(() => removeSocketDirectory(socketDirectory, place))
  const server = await runServer({
    place,
    runtime: prepareRuntime(place, silent),
    socketDirectory,
    settings: {
      ...serverSettings(settings),
      primary_conninfo: `host=${host} port=${port} user=${user} password=${password}`,
    },
    log: silent,
  })
  undo.defer(server.stop)
  const administration = { ...primary.administration, socketDirectory }
  const standbyAdministration = openDatabase({
    target: administration,
    maximumConnections: 2,
    applicationName: 'test',
  })
  undo.defer(() => standbyAdministration.end({ timeout: 1 }))
  const cleanup = undo.move()
  return {
    primaryUrl: addressOf(primary.connection),
    standbyUrl: addressOf({ ...primary.connection, socketDirectory }),
    standbyAdministrationUrl: addressOf(administration),
    standbyAdministration,
    stopStandby: server.stop,
    [Symbol.asyncDispose]: () => cleanup.disposeAsync(),
  }
}
