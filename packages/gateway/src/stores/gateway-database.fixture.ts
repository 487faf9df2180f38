import { openDatabase, type Database } from '@agent-exchange/database'
import { migrate } from '@agent-exchange/database/migrations'
import { emptyTestDatabase } from '@agent-exchange/testkit'
import { readGatewayMigrations } from './gateway-migrations.ts'
import { createSecretBox } from './secret-box.ts'

const CONNECTIONS = 8

export interface GatewayDatabase extends AsyncDisposable {
  readonly db: Database
  readonly url: string
  newAgent(): Promise<string>
  agentNamed(agentId: string): Promise<string>
}

/** Encrypts with a master key of this number. */
export const testBox = (number = 1) => {
  const current = new Uint8Array(32).fill(number)
  return createSecretBox(() => ({ current }))
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
  let agents = 0
  async function agentNamed(agentId: string): Promise<string> {
    await db`
      insert into gateway_agent (agent_id, organization_id, base_url, client_id, added_at)
      values (${agentId}, 'org_test', 'https://exchange.example', 'client_test', now()) on conflict do nothing`
    return agentId
  }
  return {
    db,
    url: database.url,
    agentNamed,
    newAgent: () => agentNamed(`agent_${(agents += 1)}`),
    async [Symbol.asyncDispose]() {
      await db.end()
      await database[Symbol.asyncDispose]()
    },
  }
}
