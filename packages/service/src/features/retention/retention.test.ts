import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createProfile, type NotificationEnvelope } from '@agent-exchange/protocol'
import { assertProblem, sendPackage, startWorld, type Organization } from '@agent-exchange/testkit'
import { Registry } from 'prom-client'
import { openDatabase } from '@agent-exchange/database'
import { makeCursor } from '../../kernel/cursor.ts'
import { handMadeCall, handMadeContext } from '../../kernel/hand-made-call.fixture.ts'
import { listNotifications } from '../notifications/list.ts'
import { createStorageMetrics } from '../overview/storage-metrics.ts'
import { RETENTION_LOCK } from './retention-step.ts'
import { removeExpired } from './retention.ts'

const world = await startWorld()
const db = openDatabase({ target: world.databaseUrl, maximumConnections: 4, applicationName: 'test' })
after(async () => {
  await db.end()
  await world[Symbol.asyncDispose]()
})
const result = createProfile({})
assert.ok(result.ok)
const { profile } = result
const DAY = 86_400
const clean = () => removeExpired(db, profile, world.clock.now())

/** `clean` does nothing while the service's own retention holds the lock. */
async function cleanUntilRemoved(organizationId: string): Promise<void> {
  for (let runs = 0; runs < 100; runs++) {
    await clean()
    const [first] = await world.sql`
      select from notification where organization_id = ${organizationId} and sequence <= 2 limit 1`
    if (!first) return
  }
  assert.fail('retention removed nothing')
}

async function sequences(reader: Organization, query = ''): Promise<number[]> {
  const { body } = await reader.get(`/v1/notifications${query}`)
  return (body['items'] as NotificationEnvelope[]).map(({ sequence }) => sequence)
}

test('[EVT-10][O-18] what is too old leaves the stream from its old end; a cursor before it gets a problem', async () => {
  const [from, to] = await Promise.all([world.organization('from'), world.organization('to')])
  for (let index = 0; index < 2; index++) await sendPackage(from, to)
  const early = String((await to.get('/v1/notifications?limit=1')).body['next_cursor'])
  const late = String((await to.get('/v1/notifications')).body['next_cursor'])
  world.clock.advance(60 * DAY)
  await sendPackage(from, to)
  assert.equal((await clean())['notifications'], 0)
  world.clock.advance(40 * DAY)
  assert.equal((await clean())['notifications'], 4)
  assert.deepEqual(await sequences(to), [3])
  assertProblem(await to.get(`/v1/notifications?after=${early}`), 'cursor_expired')
  assert.deepEqual(await sequences(to, `?after=${late}`), [3])
  // The counter does not begin anew, also when nothing is left.
  world.clock.advance(90 * DAY)
  await clean()
  const empty = await to.get('/v1/notifications')
  assert.deepEqual(empty.body['items'], [])
  assertProblem(await to.get(`/v1/notifications?after=${late}`), 'cursor_expired')
  await sendPackage(from, to)
  assert.deepEqual(await sequences(to), [4])
  assert.deepEqual(await sequences(to, `?after=${String(empty.body['next_cursor'])}`), [4])
})

test('[EVT-10] a reader whom retention overtakes gets what it asked for or a problem, and skips nothing silently', async () => {
  const [from, to] = await Promise.all([world.organization('from'), world.organization('to')])
  for (let index = 0; index < 2; index++) await sendPackage(from, to)
  world.clock.advance(100 * DAY)
  await sendPackage(from, to)
  const context = handMadeContext()
  const { organizationId } = to
  const cursor = makeCursor(context.macKey, `listNotifications ${organizationId}`, 1)
  // Retention runs between the reader's first query and whatever it asks next.
  let overtaken = false
  const byIndex = new Proxy(db.byIndex, {
    apply: async (query, self, given) => {
      const rows: unknown = await Reflect.apply(query, self, given)
      if (!overtaken) await cleanUntilRemoved(organizationId)
      overtaken = true
      return rows
    },
  })
  const racing = new Proxy(db, {
    get: (target, name) => (name === 'byIndex' ? byIndex : (Reflect.get(target, name) as unknown)),
  })
  const caller = { organizationId, agentId: undefined, clientId: 'c' }
  const call = handMadeCall('listNotifications', {
    params: {},
    body: undefined,
    query: { after: cursor },
    caller,
    context,
  })
  const { items } = await listNotifications(call, racing)
  assert.ok(overtaken)
  assert.deepEqual(
    items.map(({ sequence }) => sequence),
    [2, 3],
  )
  await assert.rejects(listNotifications(call, db), { code: 'cursor_expired' })
})

test('[EVT-10][O-18] times that do not rise with the sequence leave no hole in the stream', async () => {
  const now = world.clock.now()
  const old = new Date(Date.parse(now) - 100 * DAY * 1_000).toISOString()
  const organization = await world.organization('skewed')
  await world.sql`
    update notification_stream set last_sequence = 4 where organization_id = ${organization.organizationId}`
  for (const [sequence, time] of [
    [1, old],
    [2, now],
    [3, old],
    [4, now],
  ] as const) {
    await world.sql`
      insert into notification (organization_id, sequence, notification_id, event_id, event_type, package_id, body, occurred_at)
      values (${organization.organizationId}, ${sequence}, ${`ntf_skew_${sequence}`}, 'evt', 'package.accepted', 'pkg_x',
              ${JSON.stringify({ sequence })}, ${time})`
  }
  await clean()
  const left = await sequences(organization)
  assert.deepEqual(left, [1, 2, 3, 4].slice(-left.length))
  assert.ok(left.length > 0)
})

test('[API-04][O-18] idempotency records go after their days, and not a day earlier', async () => {
  const organization = await world.organization('retry')
  const body = { url: 'https://agent.example/hook', event_types: [] }
  const post = () => organization.post('/v1/webhook-endpoints', body, { idempotencyKey: 'kept' })
  const first = await post()
  world.clock.advance(29 * DAY)
  await clean()
  assert.equal((await post()).text, first.text)
  world.clock.advance(2 * DAY)
  await clean()
  assert.notEqual((await post()).text, first.text)
})

test('[PKG-12][O-18][O-27] content leaves after expiry; the record, the thread and the evidence stay', async () => {
  const [from, to] = await Promise.all([world.organization('from'), world.organization('to')])
  const { metadata } = await sendPackage(from, to)
  const path = `/v1/packages/${metadata.package_id}`
  const url = String((await to.get(path)).body['ciphertext_download_url'])
  world.clock.advance(30 * DAY)
  await clean()
  assert.equal((await contents(metadata.package_id)).length, 1)
  world.clock.advance(2 * DAY)
  assert.equal((await clean())['contents'], 1)
  assert.equal((await contents(metadata.package_id)).length, 0)
  assertProblem(await to.get(url), 'package_expired')
  for (const address of [path, `/v1/threads/${metadata.thread_id}`, `/v1/audit${path.slice(3)}`]) {
    assert.equal((await to.get(address)).status, 200, address)
  }
})

const contents = (packageId: string) =>
  world.sql`select distinct package_id from package_content where package_id = ${packageId}`

test('[O-18] a run is bounded in steps, and of two at once no row is counted twice', async () => {
  for (let start = 0; start < 2_500; start += 500) {
    const rows = Array.from({ length: 500 }, (_, index) => record(start + index))
    await world.sql`insert into idempotency_record ${world.sql(rows)}`
  }
  const runs = await Promise.all([clean(), clean(), clean()])
  assert.equal((await clean())['idempotency_records'] ?? 0, 2_500 - sum(runs))
  const [left] =
    await world.sql`select count(*)::int from idempotency_record where organization_id = 'org_many'`
  assert.equal(left?.['count'], 0)
})

function sum(runs: readonly Readonly<Record<string, number>>[]): number {
  return runs.reduce((total, run) => total + (run['idempotency_records'] ?? 0), 0)
}

test('[AUD-03][O-18] outside of retention nothing can be deleted, changed or truncated', async () => {
  const [from, to] = await Promise.all([world.organization('from'), world.organization('to')])
  await sendPackage(from, to)
  for (const table of ['notification', 'package_content', 'audit_record', 'agent_key_event']) {
    const name = world.sql(table)
    await assert.rejects(world.sql`delete from ${name}`, /append-only|retention|restrict/i, table)
    await assert.rejects(world.sql`truncate ${name} cascade`, /append-only|retention|restrict/i, table)
  }
  await assert.rejects(world.sql`update notification set body = ''`)
  await assert.rejects(world.sql`update package_content set payload = ''`)
  await clean()
  const [kept] = await world.sql`select count(*)::int from audit_record`
  assert.ok(Number(kept?.['count']) > 0)
})

function record(index: number) {
  return {
    organization_id: 'org_many',
    scope: 's',
    key_hash: Buffer.from(String(index)),
    content_hash: Buffer.from('c'),
    status: 200,
    body: '',
    recorded_at: '2020-01-01T00:00:00Z',
  }
}

test('[O-18] while another process does the work, nothing is done, and nothing is reported as done', async () => {
  /** What a process that has just started reports. */
  const timestamp = async () => {
    const registry = new Registry()
    const settings = { db, clock: world.clock, hasSeveralDatabaseHosts: false }
    await createStorageMetrics(registry, settings).task.run(new AbortController().signal)
    return (await registry.getSingleMetric('aex_retention_timestamp_seconds')?.get())?.values[0]?.value
  }
  const earlier = Date.parse(world.clock.now()) / 1_000
  await clean()
  world.clock.advance(7_200)
  const [held, done] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
  const other = world.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${RETENTION_LOCK})`
    held.resolve()
    await done.promise
  })
  await held.promise
  assert.deepEqual(await clean(), {})
  assert.ok(Number(await timestamp()) < earlier + 60, 'the last run of any process')
  done.resolve()
  await other
  assert.equal((await clean())['contents'], 0)
  assert.ok(Number(await timestamp()) >= earlier + 7_200)
})

test('[O-18] however much has come together, one run removes it, unless it is aborted', async () => {
  const rows = 2_500
  const insert = () => world.sql`
    insert into idempotency_record (organization_id, scope, key_hash, content_hash, status, body, recorded_at)
    select 'org_much', 's', int8send(number), '', 200, '{}', '2020-01-01' from generate_series(1, ${rows}) as number`
  await insert()
  assert.equal((await clean())['idempotency_records'], rows)
  await insert()
  assert.deepEqual(await removeExpired(db, profile, world.clock.now(), AbortSignal.abort()), {})
  assert.equal((await clean())['idempotency_records'], rows)
})

test('[O-18] a kind whose removal fails does not stop the others, and a deadlock is tried again', async () => {
  await world.sql.unsafe(`
    create sequence deadlocks;
    create function fail_once_or_always() returns trigger language plpgsql as
      $$ begin
        if tg_table_name = 'notification_stream' then raise exception 'too slow' using errcode = '57014'; end if;
        if nextval('deadlocks') = 1 then raise exception 'deadlock' using errcode = '40P01'; end if;
        return null;
      end $$;
    create trigger fails before update on notification_stream execute function fail_once_or_always();
    create trigger fails after delete on service_process execute function fail_once_or_always()`)
  await world.sql`
    insert into service_process (process_id, role, started_at, seen_at, code_level)
    values ('process_gone', 'all', now(), now() - interval '2 hours', 1)`
  const failed: string[] = []
  const removed = await removeExpired(db, profile, world.clock.now(), undefined, (kind) => {
    failed.push(kind)
    return undefined
  })
  await world.sql.unsafe(`
    drop trigger fails on notification_stream; drop trigger fails on service_process;
    drop function fail_once_or_always(); drop sequence deadlocks`)
  assert.deepEqual(failed, ['notifications'])
  assert.equal(removed['processes'], 1)
  assert.equal(removed['hopeless_deliveries'], 0)
})
