import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { migrate } from '@agent-exchange/database/migrations'
import { describeSchema } from '@agent-exchange/testkit'
import { gatewayDatabase } from './gateway-database.fixture.ts'
import { readGatewayMigrations } from './gateway-migrations.ts'

test('the migrations of the gateway apply once, and a second start finds nothing to do', async () => {
  await using database = await gatewayDatabase()
  assert.deepEqual((await migrate(database.db, readGatewayMigrations())).applied, [])
  const rows = await database.db`select agent_id from gateway_agent`
  assert.deepEqual([...rows], [])
})

test('schema.txt is what the migrations of the gateway add up to', async () => {
  await using database = await gatewayDatabase()
  const committed = readFileSync(new URL('../../schema.txt', import.meta.url), 'utf8')
  assert.equal(
    await describeSchema(database.db),
    committed,
    'Run `npm run generate -- schema` and commit schema.txt.',
  )
})
