import { openDatabase, DatabaseFailure } from '@agent-exchange/database'
import { hasDatabase, runningServer, serviceTarget, startEmbedded } from '@agent-exchange/database/embedded'
import {
  migrate,
  planMigrations,
  type Migrated,
  type MigrationPlan,
} from '@agent-exchange/database/migrations'
import { openModule } from '@agent-exchange/pkcs11'
import { fingerprint } from '@agent-exchange/server/master-key'
import { systemClock } from '@agent-exchange/server/clock'
import { withGatewayMasterKey, type GatewayConfig } from '../config/read-config.ts'
import type { AgentDependencies } from '../agents/open-agent.ts'
import { readGatewayMigrations } from '../stores/gateway-migrations.ts'
import { createSecretBox } from '../stores/secret-box.ts'

const MAXIMUM_CONNECTIONS = 4
const END_SECONDS = 5

export interface OpenGateway extends AgentDependencies, AsyncDisposable {
  readonly config: GatewayConfig
  /** Fingerprint of the current master key. */
  readonly masterKeyId: string
  /** What was applied; with `plan`, what would be. */
  readonly migrated: Migrated | MigrationPlan
}

/**
 * The database of a gateway for a command, migrated. The embedded one may be running; otherwise it is started and
 * stopped again. `create`: whether a data folder without a database gets one.
 * `plan`: the schema is left as it is.
 */
export async function openGateway(
  given: GatewayConfig,
  {
    create = false,
    plan = false,
    progress = () => undefined,
  }: { create?: boolean; plan?: boolean; progress?: (line: string) => void } = {},
): Promise<OpenGateway> {
  const { databaseUrl, dataDirectory } = given
  if (!create && databaseUrl === undefined && !hasDatabase(dataDirectory))
    throw new DatabaseFailure(
      `There is no gateway in ${dataDirectory}. Make one with: aex gateway init, or set AEX_GATEWAY_DATA_DIR or AEX_GATEWAY_DATABASE_URL.`,
    )
  const config = withGatewayMasterKey(given)
  const cleanup = new AsyncDisposableStack()
  await using undo = cleanup
  const running = databaseUrl === undefined ? runningServer(dataDirectory) : undefined
  const target =
    databaseUrl ??
    (running
      ? serviceTarget(running.target)
      : cleanup.use(await startEmbedded({ dataDirectory, log: progress })).connection)
  const db = openDatabase({ target, maximumConnections: MAXIMUM_CONNECTIONS, applicationName: 'aex gateway' })
  cleanup.defer(() => db.end({ timeout: END_SECONDS }))
  const migrations = readGatewayMigrations()
  const migrated = plan ? await planMigrations(db, migrations) : await migrate(db, migrations)
  const box = createSecretBox(() => ({ current: config.masterKey, previous: config.previousMasterKey }))
  const keyModule = config.keyModule && cleanup.use(openModule(config.keyModule))
  const stop = undo.move()
  return {
    config,
    masterKeyId: fingerprint(config.masterKey),
    migrated,
    db,
    box,
    now: () => new Date(systemClock.now()),
    publicUrl: config.publicUrl,
    ...(keyModule && { keyProvider: keyModule }),
    [Symbol.asyncDispose]: () => stop.disposeAsync(),
  }
}
