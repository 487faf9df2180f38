import { openDatabase, type ConnectionTarget } from '@agent-exchange/database'
import { startEmbedded, type EmbeddedDatabase } from '@agent-exchange/database/embedded'
import { migrate } from '@agent-exchange/database/migrations'
import type { GatewayConfig } from '../config/read-config.ts'
import { readGatewayMigrations } from '../stores/gateway-migrations.ts'

const MAXIMUM_CONNECTIONS = 16
const END_SECONDS = 5
const APPLICATION = 'aex gateway'

/** The migrated database of a gateway: embedded, or that of AEX_GATEWAY_DATABASE_URL. */
export async function openGatewayDatabase(
  { databaseUrl, databaseDirectUrl, dataDirectory }: GatewayConfig,
  cleanup: AsyncDisposableStack,
  progress: (line: string) => void,
) {
  let embedded: EmbeddedDatabase | undefined
  if (databaseUrl === undefined) embedded = cleanup.use(await startEmbedded({ dataDirectory, log: progress }))
  const target: ConnectionTarget = databaseUrl ?? embedded?.connection ?? ''
  const open = (how: Partial<Parameters<typeof openDatabase>[0]>) => {
    const db = openDatabase({ target, maximumConnections: 1, applicationName: APPLICATION, ...how })
    cleanup.defer(() => db.end({ timeout: END_SECONDS }))
    return db
  }
  const direct = databaseDirectUrl ?? target
  const migrations = open({ target: direct, purpose: 'migrations' })
  await migrate(migrations, readGatewayMigrations())
  const db = open({
    directTarget: databaseDirectUrl,
    purpose: 'requests',
    maximumConnections: MAXIMUM_CONNECTIONS,
  })
  const sessions = open({ target: direct, purpose: 'sessions' })
  return { db, sessions, failed: embedded?.failed ?? new Promise<Error>(() => undefined) }
}
