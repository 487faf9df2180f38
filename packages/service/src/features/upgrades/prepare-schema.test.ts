import assert from 'node:assert/strict'
import { test } from 'node:test'
import { generateKeyPair, jwkThumbprint } from '@agent-exchange/crypto'
import { emptyTestDatabase, movableClock, startWorld, testDatabase } from '@agent-exchange/testkit'
import { pino } from 'pino'
import { type Database, openDatabase } from '@agent-exchange/database'
import { migrate } from '@agent-exchange/database/migrations'
import { findById } from '../lookup/find-by-id.ts'
import { fillThumbprints } from './fill-thumbprints.ts'
import { prepareSchema } from './prepare-schema.ts'
import { readServiceMigrations } from '../../migrations/service-migrations.ts'

const EXPANDED = 10
const CLIENTS = 1_200
const STARTED = '2026-03-02T08:00:00.000Z'

async function expandedDatabase() {
  const database = await emptyTestDatabase()
  const db = openDatabase({ target: database.url, maximumConnections: 4, applicationName: 'test' })
  await migrate(
    db,
    readServiceMigrations().filter(({ number }) => number <= EXPANDED),
  )
  await db`insert into organization (organization_id, name, created_at) values ('org_a', 'A', now())`
  const openDirect = () =>
    openDatabase({ target: database.url, maximumConnections: 1, applicationName: 'test' })
  return {
    db,
    openDirect,
    async [Symbol.asyncDispose]() {
      await db.end()
      await database[Symbol.asyncDispose]()
    },
  }
}

const publicJwk = async () => (await generateKeyPair('signing')).publicKey.jwk

/** As the previous release does it. */
const addClients = (db: Database, jwk: object, count = 1) => db`
  insert into oauth_client (client_id, organization_id, authentication, public_jwk, created_at)
  select 'client_' || number, 'org_a', 'private_key_jwt', ${JSON.stringify(jwk)}, now()
  from generate_series(1, ${count}::integer) as number`

test('the backfill fills all thumbprints in bounded steps, shared by processes, and the search finds clients by them', async () => {
  await using database = await expandedDatabase()
  const { db } = database
  const jwk = await publicJwk()
  await addClients(db, jwk, CLIENTS)
  const filled = await Promise.all([fillThumbprints(db), fillThumbprints(db)])
  const rest = await fillThumbprints(db)
  assert.equal(filled[0] + filled[1] + rest, CLIENTS)
  const thumbprint = await jwkThumbprint(jwk)
  const [row] = await db<{ count: number }[]>`
    select count(*) as count from oauth_client where key_thumbprint = ${thumbprint}`
  assert.equal(row?.count, CLIENTS)
  const found = await findById(db, thumbprint)
  assert.equal(found.length, 20)
  assert.equal(found[0]?.kind, 'client')
})

test('[AUTH-02] a key that the previous release replaces loses its thumbprint until the backfill runs again', async () => {
  await using database = await expandedDatabase()
  const { db } = database
  await addClients(db, await publicJwk())
  await fillThumbprints(db)
  const next = await publicJwk()
  await db`update oauth_client set public_jwk = ${JSON.stringify(next)}`
  const thumbprint = async () => {
    const [row] = await db<{ key_thumbprint: string | null }[]>`select key_thumbprint from oauth_client`
    return row?.key_thumbprint
  }
  assert.equal(await thumbprint(), null)
  await fillThumbprints(db)
  assert.equal(await thumbprint(), await jwkThumbprint(next))
})

test('a running process finishes the upgrade: backfill, then the contract migration, once older processes are gone', async () => {
  await using database = await expandedDatabase()
  const { db } = database
  await addClients(db, await publicJwk())
  await db`insert into service_process (process_id, role, started_at, seen_at)
           values ('process_old', 'api', now(), now())`
  const registration = { processId: 'process_new', role: 'api', startedAt: STARTED }
  const schema = await prepareSchema(database, registration, pino({ level: 'silent' }))
  const contracted = async () => {
    const rows = await db`select from schema_migration where number = ${EXPANDED + 1}`
    return rows.length > 0
  }
  const signal = AbortSignal.timeout(10_000)
  await schema.task.run(signal)
  assert.equal(await contracted(), false)
  await db`delete from service_process where process_id = 'process_old'`
  await schema.task.run(signal)
  assert.equal(await contracted(), true)
  const processes = await db<{ process_id: string; code_level: number }[]>`
    select process_id, code_level from service_process`
  assert.deepEqual(
    processes.map((row) => ({ ...row })),
    [{ process_id: 'process_new', code_level: schema.codeLevel }],
  )
  await schema[Symbol.asyncDispose]()
  assert.equal((await db`select from service_process`).length, 0)
})

test('after a failover the contract migration waits until older processes could have reported again', async () => {
  await using database = await expandedDatabase()
  const { db } = database
  const contracted = async () => {
    const rows = await db`select from schema_migration where number = ${EXPANDED + 1}`
    return rows.length > 0
  }
  const signal = AbortSignal.timeout(30_000)
  const clock = movableClock(STARTED)
  // It runs, but the database was away, so its last report is old.
  await db`insert into service_process (process_id, role, started_at, seen_at)
           values ('process_old', 'api', now(), now() - interval '40 seconds')`
  const registration = { processId: 'process_new', role: 'api', startedAt: STARTED }
  let isAway = false
  const openDirect = () => {
    if (isAway) throw new Error('the database is away')
    return database.openDirect()
  }
  await using schema = await prepareSchema({ db, openDirect }, registration, pino({ level: 'silent' }), clock)
  const pass = async (seconds: number) => {
    for (let passed = 0; passed < seconds; passed += 5) {
      clock.advance(5)
      await schema.task.run(signal)
    }
  }
  assert.equal(await contracted(), false)
  await pass(30)
  assert.equal(await contracted(), false)
  await db`update service_process set seen_at = now() - interval '36 seconds' where process_id = 'process_old'`
  await pass(30)
  assert.equal(await contracted(), false)
  isAway = true
  clock.advance(20)
  await assert.rejects(schema.task.run(signal), /away/u)
  isAway = false
  await pass(35)
  assert.equal(await contracted(), false)
  await pass(5)
  assert.equal(await contracted(), true)
})

test('a service starts on the schema of a newer release that declares it, and refuses another one', async () => {
  await using database = await testDatabase()
  const db = openDatabase({ target: database.url, maximumConnections: 1, applicationName: 'test' })
  const config = { databaseUrl: database.url }
  const level = readServiceMigrations().at(-1)?.number ?? 0
  await db`insert into schema_migration (number, name, checksum, oldest_code) values (9998, '9998-a.sql', 'x', ${level})`
  {
    await using world = await startWorld({ config })
    assert.equal((await fetch(`${world.operatorUrl}/readyz`)).status, 200)
  }
  await db`insert into schema_migration (number, name, checksum, oldest_code) values (9999, '9999-b.sql', 'x', 9999)`
  await assert.rejects(startWorld({ config }), /brought to 9999-b\.sql by a newer release/u)
  await db.end()
})
