import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProfile } from '@agent-exchange/protocol'
import { startWorld, type World } from '@agent-exchange/testkit'
import { Registry } from 'prom-client'
import { openDatabase } from '@agent-exchange/database'
import { alertAboutLog } from './log-alerts.ts'
import { createLogMetrics } from './log-metrics.ts'

const created = createProfile({})
assert.ok(created.ok)
const { profile } = created

async function alertsOf(world: World) {
  const { items } = (await world.operate('GET', '/alerts')).body as {
    items: { kind: string; reason: string; organization_id: string; webhook_endpoint_id: null }[]
  }
  return items
}

test('an operator is alerted once when the log falls behind, refuses, or lacks a witness, and again the next time', async () => {
  await using world = await startWorld()
  await using cleanup = new AsyncDisposableStack()
  const db = openDatabase({ target: world.databaseUrl, maximumConnections: 4, applicationName: 'alerts' })
  cleanup.defer(() => db.end({ timeout: 1 }))
  const look = () => alertAboutLog({ db, profile, clock: world.clock })
  await world.sql`delete from log_pending`
  assert.equal(await look(), 0)

  const late = async () =>
    world.sql`insert into log_pending (batch_id, secret, leaves, recorded_at)
      values (decode('00', 'hex'), decode(repeat('00', 32), 'hex'), decode(repeat('00', 64), 'hex'),
        now() - interval '61 seconds')`
  await late()
  // Every process looks; one of them raises the alert.
  assert.deepEqual((await Promise.all([look(), look(), look()])).toSorted(), [0, 0, 1])
  await world.sql`delete from log_pending`
  assert.equal(await look(), 0)
  await late()
  assert.equal(await look(), 1)

  await world.sql`update log_state set refusal = '{"reason":"behind_checkpoint_file","known_size":9,"own_size":4}'`
  assert.equal(await look(), 1)
  await world.sql`insert into log_witness (name, outcome, size, cosigned_at, tried_at)
    values ('w1', 'failed: TimeoutError', 4, now() - interval '2 minutes', now())`
  assert.equal(await look(), 1)
  assert.equal(await look(), 0)

  const alerts = await alertsOf(world)
  assert.deepEqual(
    alerts.map(({ kind }) => kind),
    ['log_unwitnessed', 'log_refusing', 'log_behind', 'log_behind'],
  )
  assert.match(alerts[1]?.reason ?? '', /^behind_checkpoint_file: .*aex log recover/u)
  assert.deepEqual([alerts[0]?.organization_id, alerts[0]?.webhook_endpoint_id], ['org_platform', null])
})

test('leaves that are in the tree but in no published checkpoint count as late', async () => {
  await using world = await startWorld()
  await world.sql`delete from log_pending`
  await world.sql`update log_state set unpublished_since = now() - interval '61 seconds'`
  const { body } = await world.operate('GET', '/transparency-log')
  assert.equal(body['state'], 'behind')
  assert.ok(Number(body['oldest_pending_seconds']) >= 61)
})

test('metrics show the lag of the log although no process sequences it', async () => {
  await using world = await startWorld()
  await using cleanup = new AsyncDisposableStack()
  const db = openDatabase({ target: world.databaseUrl, maximumConnections: 2, applicationName: 'lag' })
  cleanup.defer(() => db.end({ timeout: 1 }))
  const registry = new Registry()
  const { onStatus } = createLogMetrics(registry)
  const read = async (name: string) => {
    await alertAboutLog({ db, profile, clock: world.clock, onStatus })
    return (await registry.getSingleMetric(name)?.get())?.values[0]?.value ?? Number.NaN
  }
  await world.sql`delete from log_pending`
  assert.equal(await read('aex_log_oldest_pending_seconds'), 0)
  await world.sql`insert into log_pending (batch_id, secret, leaves, recorded_at)
    values (decode('00', 'hex'), decode(repeat('00', 32), 'hex'), decode(repeat('00', 128), 'hex'),
      now() - interval '90 seconds')`
  assert.ok((await read('aex_log_oldest_pending_seconds')) >= 90)
  assert.equal(await read('aex_log_pending_leaves'), 2)
  // Also while they wait for a checkpoint only.
  await world.sql`delete from log_pending`
  await world.sql`update log_state set size = 2, unpublished_since = now() - interval '95 seconds'`
  assert.ok((await read('aex_log_oldest_pending_seconds')) >= 95)
  assert.deepEqual([await read('aex_log_size'), await read('aex_log_published_size')], [2, 0])
  await world.sql`update log_state set refusal = '{"reason":"tiles_damaged","own_size":2}'`
  assert.equal(await read('aex_log_refusing'), 1)
})
