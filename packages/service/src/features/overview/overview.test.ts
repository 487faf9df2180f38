import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { draftPackage, organizations, startWorld, submitPackage } from '@agent-exchange/testkit'
import { createActivity } from '../../kernel/activity.ts'
import { countActivity } from '../../kernel/count-activity.ts'
import { percentile, type ActivityPoint } from './activity-series.ts'
import type { ActivitySum } from './activity-store.ts'
import type { Overview } from './read-overview.ts'

const world = await startWorld({ config: { role: 'all' } })
after(() => world[Symbol.asyncDispose]())

const overview = async () => (await world.operate('GET', '/overview')).body as unknown as Overview
const sum = (points: readonly ActivityPoint[], name: 'packages_accepted' | 'problems_4xx') =>
  points.reduce((total, point) => total + point[name], 0)

test('an exchange without trouble is healthy, and every process reports at once', async () => {
  let shown = await overview()
  // The sequencer of the log takes its lock a moment after the start.
  for (let tries = 0; tries < 500 && shown.status !== 'healthy'; tries++) shown = await overview()
  const { status, issues, processes, hour, day, database_bytes } = shown
  assert.deepEqual([status, issues], ['healthy', []])
  assert.deepEqual(
    processes.map(({ role }) => role),
    ['all'],
  )
  assert.deepEqual([hour.length, day.length], [30, 48])
  assert.ok(database_bytes > 1_000_000)
})

test('what a process counted is added to that of all when it stops; a retry of a package is not counted again', async () => {
  const [sender, owner] = await organizations(world, 'sender', 'owner')
  {
    await using replica = await startWorld({ beside: world })
    for (let index = 0; index < 3; index++) {
      const draft = await draftPackage(sender, owner)
      assert.equal((await sender.post('/v1/policy-receipts', draft.receipt)).status, 201)
      const options = { idempotencyKey: `key-${index}`, at: replica.url }
      for (let time = 0; time < 2; time++)
        assert.equal((await submitPackage(sender, draft, options)).status, 202)
    }
    assert.equal((await sender.get('/v1/packages/pkg_none', { at: replica.url })).status, 404)
    assert.equal((await overview()).processes.length, 2)
  }
  const { hour, day, processes } = await overview()
  assert.equal(processes.length, 1)
  for (const points of [hour, day]) {
    assert.equal(sum(points, 'packages_accepted'), 3)
    assert.equal(sum(points, 'problems_4xx'), 1)
  }
  const last = hour.findLast((point) => point.packages_accepted > 0)
  assert.ok(last?.acceptance_p50 && last.acceptance_p99 && last.acceptance_p50 <= last.acceptance_p99)
})

test('two replicas show the same', async () => {
  await using replica = await startWorld({ beside: world })
  const token = await world.operate('POST', '/operators', { name: 'both', role: 'viewer' })
  const read = async (url: string) => {
    const headers = { authorization: `Bearer ${String(token.body['token'])}` }
    const response = await fetch(`${url}/operator/v1/overview`, { headers })
    const { now: _now, log: _log, database_bytes: _bytes, ...shown } = (await response.json()) as Overview
    return shown
  }
  const [one, other] = await Promise.all([read(world.operatorUrl), read(replica.operatorUrl)])
  assert.deepEqual(one, other)
})

test('counters are kept for 25 hours, sessions for a day after their end, and stopped processes for an hour', async () => {
  const { removeExpired } = await import('../retention/retention.ts')
  const { openDatabase } = await import('@agent-exchange/database')
  const db = openDatabase({ target: world.databaseUrl, maximumConnections: 4, applicationName: 'test' })
  await world.sql`
    insert into activity_minute (minute, metric, count)
    values (now() - interval '26 hours', 'problems_4xx', 1), (now() - interval '24 hours', 'problems_4xx', 1)`
  await world.sql`
    insert into service_process (process_id, role, started_at, seen_at, code_level)
    values ('process_old', 'all', now(), now() - interval '2 hours', 1)`
  const { DEFAULT_PROFILE } = await import('@agent-exchange/protocol')
  const removed = await removeExpired(db, DEFAULT_PROFILE, world.clock.now())
  await db.end()
  assert.deepEqual([removed['activity'], removed['processes'], removed['operator_sessions']], [1, 1, 0])
})

test('a percentile is interpolated in its bucket, as Prometheus does', () => {
  const sums = (counts: Record<number, number>): ActivitySum[] =>
    Object.entries(counts).map(([bucket, count]) => ({
      at: '',
      metric: 'delivery',
      bucket: Number(bucket),
      count,
    }))
  assert.equal(percentile(sums({}), 'delivery', 0.5), null)
  assert.equal(percentile(sums({ 3: 10 }), 'delivery', 0.5), 7.5)
  assert.equal(percentile(sums({ 0: 99, 5: 1 }), 'delivery', 0.99), 1)
  assert.equal(percentile(sums({ 0: 50, 13: 50 }), 'delivery', 0.99), 10_000)
})

test('outcomes of deliveries and answers are counted by what they mean to an operator', () => {
  const activity = createActivity(world.clock)
  const { onAnswer, onAttempt, onCommitted } = countActivity(activity)
  for (const outcome of ['delivered', 'retry', 'failed', 'endpoint_gone', 'dead']) onAttempt(outcome, 20)
  onCommitted('createPackageTransfer')
  onCommitted('registerAgent')
  onAnswer({ method: 'POST', route: '/v1/packages', status: 202, milliseconds: 3 })
  onAnswer({ method: 'GET', route: '/v1/packages', status: 200, milliseconds: 3 })
  onAnswer({ method: 'POST', route: '/v1/packages', status: 503, milliseconds: 3 })
  const taken = activity.take().map(({ metric, bucket, count }) => `${metric} ${bucket} ${count}`)
  assert.deepEqual(taken.toSorted(), [
    'acceptance 2 1',
    'deliveries_dead 0 1',
    'deliveries_delivered 0 1',
    'deliveries_failed 0 2',
    'deliveries_retried 0 1',
    'delivery 4 5',
    'packages_accepted 0 1',
    'problems_5xx 0 1',
  ])
  assert.deepEqual(activity.take(), [])
})

test('counters that cannot be stored wait, but not without a bound', () => {
  const activity = createActivity(world.clock)
  for (let minute = 0; minute < 60; minute++) {
    const time = `2026-03-02T08:${String(minute).padStart(2, '0')}:00.000Z`
    activity.giveBack([{ minute: time, metric: 'problems_4xx', bucket: 0, count: 1 }])
  }
  const kept = activity.take()
  assert.equal(kept.length, 30)
  assert.equal(kept[0]?.minute, '2026-03-02T08:30:00.000Z')
})
