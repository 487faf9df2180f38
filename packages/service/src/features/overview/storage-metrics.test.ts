import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startWorld } from '@agent-exchange/testkit'
import { Registry } from 'prom-client'
import { openDatabase } from '@agent-exchange/database'
import { createDatabaseMetrics } from './database-metrics.ts'
import { createStorageMetrics } from './storage-metrics.ts'

const world = await startWorld()
const db = openDatabase({ target: world.databaseUrl, maximumConnections: 4, applicationName: 'test' })
after(async () => {
  await db.end()
  await world[Symbol.asyncDispose]()
})

/** The samples of a process that has just read the database. */
async function read({ hasSeveralDatabaseHosts = false } = {}): Promise<string> {
  const registry = new Registry()
  const { task } = createStorageMetrics(registry, { db, clock: world.clock, hasSeveralDatabaseHosts })
  await task.run(new AbortController().signal)
  return registry.metrics()
}

test('a process of role api reports the backlog and that nobody delivers', async () => {
  const { sql, clock } = world
  assert.match(await read(), /aex_delivery_oldest_due_seconds\{waits_for="worker"\} 0/u)
  await world.organization('owner')
  await sql`insert into platform_key values ('key_1', 'webhook', '{}', '', now(), now(), 'active', now())`
  await sql`
    insert into webhook_endpoint
      (webhook_endpoint_id, organization_id, url, event_types, signing_key_id, status, created_at, updated_at)
    select 'whe_1', organization_id, 'https://agent.example/', '{}', 'key_1', 'active', now(), now()
    from organization where organization_id <> 'org_platform' limit 1`
  await sql`
    insert into delivery
      (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id, state,
        next_attempt_at, created_at)
    select 'dlv_1', 'whe_1', organization_id, 'pkg_1', 'ntf_1', 'evt_1', 'pending', ${clock.now()}, ${clock.now()}
    from webhook_endpoint`
  clock.advance(600)
  const unanswered = await read()
  assert.match(unanswered, /aex_delivery_oldest_due_seconds\{waits_for="worker"\} 0$/mu)
  assert.match(unanswered, /aex_delivery_oldest_due_seconds\{waits_for="endpoint"\} 60\d/u)
  await sql`update webhook_endpoint set answered_at = ${clock.now()}`
  const late = await read()
  assert.match(late, /aex_delivery_oldest_due_seconds\{waits_for="worker"\} 60\d/u)
  assert.match(late, /aex_processes\{role="worker"\} 0/u)
  await sql`delete from delivery`
  assert.match(await read(), /aex_delivery_oldest_due_seconds\{waits_for="worker"\} 0$/mu)
})

test('live processes are counted by role, those that no longer report are not', async () => {
  await world.sql`
    insert into service_process (process_id, role, started_at, seen_at, code_level)
    values ('process_gone', 'worker', now(), now() - interval '60 seconds', 1),
      ('process_alive', 'worker', now(), now(), 1)`
  assert.match(await read(), /aex_processes\{role="worker"\} 1/u)
})

test('a server without standbys is unsafe only if the address names several hosts', async () => {
  const single = await read()
  assert.match(single, /aex_database_replication\{state="none"\} 1/u)
  assert.match(single, /aex_database_replication\{state="synchronous"\} 0/u)
  assert.match(single, /aex_database_failover_unsafe 0/u)
  assert.match(await read({ hasSeveralDatabaseHosts: true }), /aex_database_failover_unsafe 1/u)
})

test('the service shows how long ago the database answered', async () => {
  const registry = new Registry()
  createDatabaseMetrics(registry, { secondsSinceAnswer: () => 31, isEmbedded: false })
  assert.match(await registry.metrics(), /^aex_database_answer_age_seconds 31$/mu)
  const running = await (await fetch(`${world.operatorUrl}/metrics`)).text()
  assert.match(running, /^aex_database_answer_age_seconds \d/mu)
})

test('the disk of the embedded database is shown, and of no other', async () => {
  const [embedded, other] = [new Registry(), new Registry()]
  for (const registry of [embedded, other])
    createDatabaseMetrics(registry, {
      secondsSinceAnswer: undefined,
      isEmbedded: registry === embedded,
    }).onDisk({
      free: 5,
      total: 100,
    })
  assert.match(await embedded.metrics(), /^aex_database_disk_free_bytes 5$/mu)
  assert.match(await embedded.metrics(), /^aex_database_disk_size_bytes 100$/mu)
  assert.doesNotMatch(await other.metrics(), /disk/u)
})
