import assert from 'node:assert/strict'
import { test } from 'node:test'
import { migrate } from '@agent-exchange/database/migrations'
import { gatewayDatabase } from './gateway-database.fixture.ts'
import { readGatewayMigrations } from './gateway-migrations.ts'

test('the migrations of the gateway apply once, and a second start finds nothing to do', async () => {
  await using database = await gatewayDatabase()
  assert.deepEqual((await migrate(database.db, readGatewayMigrations())).applied, [])
  const rows = await database.db`select agent_id from gateway_agent`
  assert.deepEqual([...rows], [])
})
