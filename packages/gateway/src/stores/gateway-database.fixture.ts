import { openDatabase, type Database } from '@agent-exchange/database'
import { migrate } from '@agent-exchange/database/migrations'
import { emptyTestDatabase } from '@agent-exchange/testkit'
import { readGatewayMigrations } from './gateway-migrations.ts'

const CONNECTIONS = 8

export interface GatewayDatabase extends AsyncDisposable {
  readonly db: Database
  readonly url: string
}

/** A database of its own with the schema of the gateway. */
export async function gatewayDatabase(): Promise<GatewayDatabase> {
  const database = await emptyTestDatabase()
  const db = openDatabase({
    target: database.url,
    maximumConnections: CONNECTIONS,
    applicationName: 'gateway test',
  })
  await migrate(db, readGatewayMigrations())
  return {
    db,
    url: database.url,
    async [Symbol.asyncDispose]() {
      await db.end()
      await database[Symbol.asyncDispose]()
    },
  }
}
