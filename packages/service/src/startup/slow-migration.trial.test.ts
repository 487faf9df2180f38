import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { get } from 'node:https'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  emptyTestDatabase,
  freePorts,
  startWorld,
  testAuthority,
  testDatabase,
  until,
} from '@agent-exchange/testkit'
import { openDatabase } from '@agent-exchange/database'
import { migrate, MIGRATION_LOCK } from '@agent-exchange/database/migrations'
import { readConfig } from '../config/index.ts'
import { startWorkerPool } from '../process/worker-pool.ts'
import { HEARTBEAT_MS } from './heartbeat.ts'

const PATIENCE_MS = 20_000

/** A migration by another process, as far as a process that starts can see. */
async function holdMigrations(url: string): Promise<{ release(): Promise<void> }> {
  const db = openDatabase({ target: url, maximumConnections: 2, applicationName: 'test' })
  const held = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const holding = db.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${MIGRATION_LOCK})`
    held.resolve()
    await released.promise
  })
  await held.promise
  return {
    async release() {
      released.resolve()
      await holding
      await db.end()
    },
  }
}

const statusOf = (url: string) =>
  fetch(url, { headers: { connection: 'close' } }).then(
    ({ status }) => status,
    () => undefined,
  )

const untilAlive = (base: string) =>
  until('/healthz answers', async () => (await statusOf(`${base}/healthz`)) === 200)

test('a process that migrates is alive and not ready, and then serves the operator API on the same port', async () => {
  await using database = await testDatabase()
  const [operatorPort = 0] = await freePorts(1)
  const base = `http://127.0.0.1:${operatorPort}`
  const migration = await holdMigrations(database.url)
  const starting = startWorld({ config: { databaseUrl: database.url, operatorPort } })
  await untilAlive(base)
  assert.equal(await statusOf(`${base}/readyz`), 503)
  assert.equal(await statusOf(`${base}/operator/v1/organizations`), 503)
  await migration.release()
  await using world = await starting
  assert.equal(world.operatorUrl, base)
  assert.equal(await statusOf(`${base}/readyz`), 200)
  assert.equal(await statusOf(`${base}/operator/v1/organizations`), 401)
})

test('with a certificate the health probes of a start use TLS, too', async () => {
  await using database = await testDatabase()
  const [operatorPort = 0] = await freePorts(1)
  const tls = { ...(await (await testAuthority()).server()), clientCa: undefined }
  const migration = await holdMigrations(database.url)
  const starting = startWorld({ config: { databaseUrl: database.url, operatorPort, tls } })
  const status = async () => {
    const request = get({
      host: '127.0.0.1',
      port: operatorPort,
      path: '/healthz',
      rejectUnauthorized: false,
    })
    const [response] = (await once(request, 'response').catch(() => [])) as [{ statusCode?: number }?]
    request.destroy()
    return response?.statusCode
  }
  await until('/healthz answers', async () => (await status()) === 200)
  assert.equal(await statusOf(`http://127.0.0.1:${operatorPort}/healthz`), undefined)
  await migration.release()
  await (await starting)[Symbol.asyncDispose]()
})

test('a worker that migrates for longer than a start may take is not killed', async () => {
  await using database = await testDatabase()
  const [port, operatorPort] = await freePorts(2)
  const folder = mkdtempSync(join(tmpdir(), 'aex-pool-'))
  const config = readConfig({
    DATABASE_URL: database.url,
    AEX_MASTER_KEY: '00'.repeat(32),
    AEX_DATA_DIR: folder,
    AEX_PORT: String(port),
    AEX_OPERATOR_PORT: String(operatorPort),
    AEX_PUBLIC_URL: `http://127.0.0.1:${port}`,
    AEX_LOG_LEVEL: 'error',
  })
  const migration = await holdMigrations(database.url)
  const base = `http://127.0.0.1:${operatorPort}`
  // A busy machine delays heartbeats.
  const limitMs = HEARTBEAT_MS * 2
  const started = performance.now()
  const starting = startWorkerPool(2, config, () => undefined, limitMs)
  starting.catch(() => undefined)
  await untilAlive(base)
  const alive: (number | undefined)[] = []
  while (performance.now() - started < limitMs * 1.3) {
    alive.push(await statusOf(`${base}/healthz`))
    await sleep(500)
  }
  assert.deepEqual([...new Set(alive)], [200])
  await migration.release()
  // From the first 200 on, no request reaches a worker that is not ready.
  await until('the workers are ready', async () => (await statusOf(`${base}/readyz`)) === 200)
  let isStarted = false
  void starting.then(() => (isStarted = true))
  while (!isStarted) assert.equal(await statusOf(`${base}/readyz`), 200)
  await (await starting)[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

test('the server ends the migration of a process that was killed, so that the next one can start', async () => {
  await using database = await emptyTestDatabase()
  const open = () => openDatabase({ target: database.url, maximumConnections: 2, applicationName: 'test' })
  const [killed, next] = [open(), open()]
  const sql = 'select pg_sleep(300)'
  const migrating = migrate(killed, [{ number: 1, name: '0001-slow.sql', sql, checksum: sql }])
  const lost = assert.rejects(migrating)
  const running = () => next`select from pg_stat_activity where query = ${sql}`
  await until('the migration runs', async () => (await running()).length > 0)
  await killed.end({ timeout: 0 })
  await lost
  const started = performance.now()
  assert.deepEqual((await migrate(next, [])).applied, [])
  assert.ok(performance.now() - started < PATIENCE_MS, 'it waited for the end of the statement')
  await next.end()
})
