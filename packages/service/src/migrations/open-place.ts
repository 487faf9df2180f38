import { DatabaseFailure, openDatabase, type ConnectionTarget, type Database } from '@agent-exchange/database'
import { hasDatabase, runningServer, serviceTarget, startEmbedded } from '@agent-exchange/database/embedded'

const MAXIMUM_CONNECTIONS = 2
const END_SECONDS = 5

/**
 * The database of the service, for a command: that of DATABASE_URL, or the embedded one, which may be running. Disposal
 * ends the connections, and stops the embedded server if this call started it.
 *
 * @throws {DatabaseFailure} if there is no embedded database yet
 */
export async function openPlace(
  { databaseUrl, dataDirectory }: { databaseUrl: string | undefined; dataDirectory: string },
  log: (line: string) => void,
): Promise<AsyncDisposable & { readonly db: Database }> {
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const target = databaseUrl ?? (await embeddedTarget(dataDirectory, cleanup, log))
  const db = openDatabase({ target, maximumConnections: MAXIMUM_CONNECTIONS, applicationName: 'aex' })
  cleanup.defer(() => db.end({ timeout: END_SECONDS }))
  const release = undo.move()
  return { db, [Symbol.asyncDispose]: () => release.disposeAsync() }
}

async function embeddedTarget(
  dataDirectory: string,
  cleanup: AsyncDisposableStack,
  log: (line: string) => void,
): Promise<ConnectionTarget> {
  if (!hasDatabase(dataDirectory))
    throw new DatabaseFailure(
      `There is no database in ${dataDirectory}. Set AEX_DATA_DIR or DATABASE_URL, or start with: aex serve`,
    )
  const running = runningServer(dataDirectory)
  if (running) return serviceTarget(running.target)
  return cleanup.use(await startEmbedded({ dataDirectory, log })).connection
}
