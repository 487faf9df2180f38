import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createProfile } from '@agent-exchange/protocol'
import { assertProblem, organizations, sendPackage, startWorld } from '@agent-exchange/testkit'
import { openDatabase } from '@agent-exchange/database'
import { secondsAfter } from '@agent-exchange/server/clock'
import { startOfIds } from '../../kernel/ids.ts'
import { makePartitions } from './make-partitions.ts'
import {
  ATTEMPTS,
  CONTENTS,
  isLast,
  listPartitions,
  nameOf,
  spansBetween,
  type PartitionedTable,
} from './partitioned-tables.ts'
import { repeatWhileLocked } from './repeat-while-locked.fixture.ts'
import { removeExpired } from './retention.ts'

const world = await startWorld()
const { db, repeat } = repeatWhileLocked(
  openDatabase({ target: world.databaseUrl, maximumConnections: 4, applicationName: 'test' }),
)
after(async () => {
  await db.end()
  await world[Symbol.asyncDispose]()
})
const created = createProfile({ 'O-18': { content_days_after_expiry: 2, delivery_days: 3 } })
assert.ok(created.ok)
const { profile } = created
const { sql, clock } = world
const DAY = 86_400
const [sender, owner] = await organizations(world, 'sender', 'owner')
const endpoint = await owner.post('/v1/webhook-endpoints', {
  url: 'https://receiver.example/',
  event_types: [],
})
assert.equal(endpoint.status, 201)

const make = async () => (await repeat(() => makePartitions(db, clock.now()))).flat()
const clean = async () => {
  const runs = await repeat(() => removeExpired(db, profile, clock.now()))
  const sum = (kind: string) => runs.reduce((total, removed) => total + (removed[kind] ?? 0), 0)
  return { partitions: sum('partitions'), contents: sum('contents') }
}
function spanAt(table: typeof CONTENTS, time: string) {
  const [span] = spansBetween(table, time, time)
  assert.ok(span)
  return span
}
const partitionOf = async (packageId: string) => {
  const [row] = await sql`
    select distinct tableoid::regclass::text as name from package_content where package_id = ${packageId}`
  return row?.['name'] as string | undefined
}
/** All but the last one. */
const partitionsOf = async (table: PartitionedTable) =>
  (await listPartitions(db, table)).filter((each) => !isLast(each))
const lastPartition = async () => (await listPartitions(db, CONTENTS)).find(isLast)
const exists = async (name: string) => (await sql`select to_regclass(${name}) as oid`)[0]?.['oid'] !== null
const usage = async () => {
  const [row] = await sql`
    select coalesce(stored_bytes, 0)::int as counted, (
      select coalesce(sum(octet_length(before) + octet_length(payload) + octet_length(after)), 0)::int
      from package_content) as stored
    from organization_usage where organization_id = ${sender.organizationId}`
  return [row?.['counted'], row?.['stored']]
}

test('[O-18] the service has partitions ahead when it starts, with the settings of the default partition', async () => {
  const days = (await partitionsOf(CONTENTS)).map(({ from }) => from)
  assert.deepEqual(
    days,
    spansBetween(CONTENTS, clock.now(), secondsAfter(clock.now(), 7 * DAY)).map(({ from }) => from),
  )
  assert.equal((await listPartitions(db, ATTEMPTS)).length, 3)
  const name = nameOf(CONTENTS, spanAt(CONTENTS, clock.now()))
  const described = await sql`
    select relname, array_to_string(reloptions, ' ') as options, (
      select string_agg(attname || attstorage::text || coalesce(attstattarget, -1), ' ' order by attnum) from pg_attribute
      where attrelid = pg_class.oid and attnum > 0) as columns
    from pg_class where oid in (${name}::regclass, 'package_content_default'::regclass) order by relname`
  const [first, second] = described.map(({ options, columns }) => [options, columns])
  assert.ok(second)
  assert.deepEqual(second, first)
  assert.match(String(described[0]?.['options']), /toast_tuple_target=8160/)
  assert.deepEqual(await make(), [])
})

test('[O-18] of several processes that make partitions at once each succeeds', async () => {
  clock.advance(20 * DAY)
  const made = await Promise.all(Array.from({ length: 4 }, () => makePartitions(db, clock.now())))
  const names = [...made.flat(), ...(await make())]
  assert.equal(new Set(names).size, names.length)
  assert.ok(names.includes(nameOf(CONTENTS, spanAt(CONTENTS, clock.now()))))
})

/** After its first statement, another process does the same work from beginning to end. */
function overtakenBy(other: () => Promise<unknown>): typeof db {
  let isOvertaken = false
  return new Proxy(db, {
    apply: async (query, self, given) => {
      const rows: unknown = await Reflect.apply(query, self, given)
      if (!isOvertaken) {
        isOvertaken = true
        await other()
      }
      return rows
    },
  })
}

test('[O-18] a process that is overtaken after it listed the partitions fails neither to make nor to drop them', async () => {
  clock.advance(20 * DAY)
  const racing = overtakenBy(make)
  assert.deepEqual(await makePartitions(racing, clock.now()), [])
  assert.ok((await partitionsOf(CONTENTS)).length > 8)
  clock.advance(20 * DAY)
  const late = overtakenBy(clean)
  assert.equal((await removeExpired(late, profile, clock.now()))['partitions'], undefined)
  assert.deepEqual(await partitionsOf(CONTENTS), [])
  await make()
})

test('[PKG-01][O-18] a package for whose day there is no partition is accepted, and moved when there is one', async () => {
  const expiresAt = secondsAfter(clock.now(), 60 * DAY)
  const { metadata } = await sendPackage(sender, owner, { metadata: { expires_at: expiresAt } })
  assert.equal(await partitionOf(metadata.package_id), 'package_content_default')
  const made = await make()
  const day = nameOf(CONTENTS, spanAt(CONTENTS, expiresAt))
  assert.ok(made.includes(day))
  assert.equal(await partitionOf(metadata.package_id), day)
  // The next days are ahead of what senders use.
  assert.ok(made.includes(nameOf(CONTENTS, spanAt(CONTENTS, secondsAfter(expiresAt, 7 * DAY)))))
  const { body } = await owner.get(`/v1/packages/${metadata.package_id}`)
  assert.equal((await owner.get(String(body['ciphertext_download_url']))).status, 200)
})

test('[PKG-01] a package that expires in the year 9999 is in the last partition, and asks for no other', async () => {
  const { metadata } = await sendPackage(sender, owner, { metadata: { expires_at: '9999-12-31T23:59:59Z' } })
  assert.deepEqual(await make(), [])
  assert.equal(await partitionOf(metadata.package_id), (await lastPartition())?.name)
})

/** As one sender might store them. */
const storeContents = (expiresAt: string, count: number, payload = '') => sql`
  insert into package_content (expires_at, part, package_id, before, payload, after)
  select ${expiresAt}, 0, 'pkg_many_' || number, '', convert_to(${payload}, 'UTF8'), ''
  from generate_series(1, ${count}::integer) as number`
const removeStored = () =>
  sql.begin(async (tx) => {
    await tx`select set_config('aex.retention', 'on', true)`
    await tx`delete from package_content where package_id like 'pkg\\_many\\_%'`
  })

test('[PKG-01][O-18] one sender cannot keep others without partitions by contents that expire late', async () => {
  await storeContents(secondsAfter(clock.now(), 500 * DAY), 40_000, 'x'.repeat(8_000))
  const [row] =
    await sql`select pg_relation_size(${(await lastPartition())?.name ?? ''})::bigint > 268435456 as large`
  assert.equal(row?.['large'], true)
  clock.advance(70 * DAY)
  const made = await make()
  assert.ok(made.includes(nameOf(CONTENTS, spanAt(CONTENTS, secondsAfter(clock.now(), 7 * DAY)))))
  const [rest] = await sql`select pg_relation_size('package_content_default')::int as bytes`
  assert.ok(Number(rest?.['bytes']) < 10_000_000)
  await removeStored()
  await sql.unsafe(`vacuum ${(await lastPartition())?.name}`)
})

test('[O-18] a day with too many rows in the default partition stays there', async () => {
  const expiresAt = secondsAfter(clock.now(), 80 * DAY)
  await storeContents(expiresAt, 50_001)
  const made = await make()
  assert.ok(!made.includes(nameOf(CONTENTS, spanAt(CONTENTS, expiresAt))))
  assert.ok(made.includes(nameOf(CONTENTS, spanAt(CONTENTS, secondsAfter(expiresAt, DAY)))))
  await removeStored()
})

test('[PKG-12][O-13][O-18] the partition of a day is dropped, and its bytes no longer count against the quota', async () => {
  const { metadata } = await sendPackage(sender, owner)
  await sendPackage(sender, owner, { plaintext: Buffer.alloc(40_000, 'x') })
  const later = await sendPackage(sender, owner, {
    metadata: { expires_at: secondsAfter(clock.now(), 2 * DAY) },
  })
  const name = String(await partitionOf(metadata.package_id))
  assert.equal(name, nameOf(CONTENTS, spanAt(CONTENTS, metadata.expires_at)))
  const { body } = await owner.get(`/v1/packages/${metadata.package_id}`)
  const url = String(body['ciphertext_download_url'])
  clock.set(secondsAfter(spanAt(CONTENTS, metadata.expires_at).until, 2 * DAY - 1))
  await clean()
  assert.ok(await exists(name), 'dropped too early')
  clock.advance(2)
  const removed = await clean()
  assert.ok(removed.partitions > 0)
  assert.ok(removed.contents >= 2)
  assert.equal(await exists(name), false)
  assert.equal(await partitionOf(metadata.package_id), undefined)
  assert.ok(await partitionOf(later.metadata.package_id))
  const [counted, stored] = await usage()
  assert.equal(counted, stored)
  assertProblem(await owner.get(url), 'package_expired')
  assert.equal((await sql`select from retired_partition`).length, 0)
})

test('[AUD-03] a partition refuses what its table refuses', async () => {
  const { metadata } = await sendPackage(sender, owner)
  const name = sql(String(await partitionOf(metadata.package_id)))
  await assert.rejects(sql`delete from ${name}`, /append-only/)
  await assert.rejects(sql`update ${name} set payload = ''`, /append-only/)
  await assert.rejects(sql`truncate ${name}`, /append-only/)
})

test('[O-18] a run that stopped between detaching and dropping is continued, and credits no block twice', async () => {
  const { metadata } = await sendPackage(sender, owner)
  const name = String(await partitionOf(metadata.package_id))
  clock.set(secondsAfter(spanAt(CONTENTS, metadata.expires_at).until, 3 * DAY))
  // As left behind by a process that died after it had credited all blocks.
  await sql.begin(async (tx) => {
    const [row] = await tx`
      select sum(octet_length(before) + octet_length(payload) + octet_length(after))::int as bytes from ${tx(name)}`
    await tx.unsafe(`alter table package_content detach partition ${name}`)
    await tx`insert into retired_partition values (${name}, 'package_content', ${clock.now()}, 1000)`
    await tx`
      update organization_usage set stored_bytes = stored_bytes - ${row?.['bytes'] as number}
      where organization_id = ${sender.organizationId}`
  })
  await clean()
  assert.equal(await exists(name), false)
  const [counted, stored] = await usage()
  assert.equal(counted, stored)
})

test('[O-18] retention that waits for a lock blocks no package, and drops the partition later', async () => {
  const { metadata } = await sendPackage(sender, owner)
  const name = String(await partitionOf(metadata.package_id))
  clock.set(secondsAfter(spanAt(CONTENTS, metadata.expires_at).until, 3 * DAY))
  await make()
  const stop = new AbortController()
  await sql.begin(async (reader) => {
    await reader`select from package_content limit 1`
    const run = removeExpired(db, profile, clock.now(), stop.signal)
    const started = performance.now()
    for (let count = 0; count < 5; count++) await sendPackage(sender, owner)
    assert.ok(performance.now() - started < 5_000)
    stop.abort()
    await run
    assert.ok(await exists(name))
  })
  await clean()
  assert.equal(await exists(name), false)
})

/** A finished delivery with one attempt. */
async function finishedDelivery(): Promise<string> {
  const { metadata } = await sendPackage(sender, owner)
  const [row] = await sql`
    update delivery set state = 'delivered', attempt = 1, finished_at = ${clock.now()}
    where package_id = ${metadata.package_id} returning delivery_id`
  const id = String(row?.['delivery_id'])
  await sql`insert into delivery_attempt values (${id}, 1, ${clock.now()}, 'delivered', '{}')`
  return id
}

const attemptIn = async (id: string) =>
  (await sql`select tableoid::regclass::text as name from delivery_attempt where delivery_id = ${id}`)[0]?.[
    'name'
  ]

test('[O-18] attempts of a week are dropped; those of a delivery that outlives them are kept until it goes', async () => {
  await make()
  const [done, outliving] = [await finishedDelivery(), await finishedDelivery()]
  const week = spanAt(ATTEMPTS, clock.now())
  assert.equal(await attemptIn(done), nameOf(ATTEMPTS, week))
  clock.set(secondsAfter(week.until, 3 * DAY + 1))
  await sql`update delivery set finished_at = ${clock.now()} where delivery_id = ${outliving}`
  await clean()
  await clean()
  assert.equal(await exists(nameOf(ATTEMPTS, week)), false)
  assert.equal(await attemptIn(done), undefined)
  assert.equal(await attemptIn(outliving), 'delivery_attempt_default')
  clock.advance(4 * DAY)
  await clean()
  assert.equal(await attemptIn(outliving), undefined)
})

test('[O-18] an attempt of an old delivery is recorded although the partition of its week is gone', async () => {
  const id = `${startOfIds('dlv', secondsAfter(clock.now(), -100 * DAY))}${'0'.repeat(20)}`
  await sql`insert into delivery_attempt values (${id}, 1, ${clock.now()}, 'retry', '{}')`
  assert.equal(await attemptIn(id), 'delivery_attempt_default')
})

test('statements that name the partition key read one partition', async () => {
  await make()
  const { metadata } = await sendPackage(sender, owner)
  const id = await finishedDelivery()
  const plans = await db.begin(async (tx) => {
    await tx.byIndex`select 1`
    const explain = async (text: string, values: string[]) =>
      (
        await tx.unsafe<{ 'QUERY PLAN': string }[]>(
          `explain (analyze, costs off, timing off) ${text}`,
          values,
        )
      )
        .map((row) => row['QUERY PLAN'])
        .join('\n')
    return [
      await explain(
        'select payload from package_content where package_id = $1 and expires_at = $2 order by part',
        [metadata.package_id, metadata.expires_at],
      ),
      await explain('select details from delivery_attempt where delivery_id = $1 order by attempt', [id]),
      await explain(
        'select outcome from delivery join delivery_attempt using (delivery_id) where package_id = $1',
        [metadata.package_id],
      ),
      await explain(
        'select outcome from unnest($1::text[]) as wanted (delivery_id) join delivery_attempt using (delivery_id)',
        [`{${id}}`],
      ),
    ]
  })
  for (const plan of plans) {
    assert.doesNotMatch(plan, /Seq Scan on (?:package_content|delivery_attempt)/, plan)
    const scans = plan
      .split('\n')
      .filter((line) => /Scan .*on (?:package_content|delivery_attempt)_/.test(line))
      .filter((line) => !line.includes('never executed'))
    assert.ok(scans.length <= 1, plan)
  }
})

test('[PKG-01][O-18] the bound of the last partition moves with time, and its contents stay readable', async () => {
  await make()
  const before = await lastPartition()
  assert.ok(before && before.from > secondsAfter(clock.now(), 408 * DAY))
  const soon = secondsAfter(before.from, 3 * DAY)
  const send = async (expires_at: string) =>
    (await sendPackage(sender, owner, { metadata: { expires_at } })).metadata.package_id
  const [leaving, staying] = [await send(soon), await send('9998-06-01T00:00:00Z')]
  assert.equal(await partitionOf(leaving), before.name)
  clock.advance(60 * DAY)
  await make()
  const moved = await lastPartition()
  assert.ok(moved && moved.from > soon)
  assert.equal(await partitionOf(leaving), nameOf(CONTENTS, spanAt(CONTENTS, soon)))
  assert.equal(await partitionOf(staying), moved.name)
  for (const id of [leaving, staying]) {
    const { body } = await owner.get(`/v1/packages/${id}`)
    assert.equal((await owner.get(String(body['ciphertext_download_url']))).status, 200)
  }
  const [leftover] = await sql`
    select count(*)::int as count from pg_constraint where conname = 'beyond_bound'`
  assert.equal(leftover?.['count'], 0)
  assert.deepEqual(await make(), [])
})

test('[O-18] the bound stays where too many contents would have to move, and other partitions are made', async () => {
  const before = await lastPartition()
  assert.ok(before)
  await storeContents(secondsAfter(before.from, DAY), 50_001)
  clock.advance(60 * DAY)
  await make()
  assert.equal((await lastPartition())?.name, before.name)
  for (const day of spansBetween(CONTENTS, clock.now(), secondsAfter(clock.now(), 7 * DAY)))
    assert.ok(await exists(nameOf(CONTENTS, day)), day.from)
  await removeStored()
  await make()
  assert.notEqual((await lastPartition())?.name, before.name)
})

test('[O-13][O-18] a step of retention locks the usage of organizations in one statement, in one order', async () => {
  await sql.unsafe(`
    create table usage_statement (id bigint);
    create function note_statement() returns trigger language plpgsql as
      $$ begin insert into usage_statement values (pg_current_xact_id()::text::bigint); return null; end $$;
    create trigger notes after insert on organization_usage for each statement execute function note_statement()`)
  await make()
  const [in_day, in_last] = [await sendPackage(sender, owner), await sendPackage(owner, sender)]
  const last = await lastPartition()
  assert.ok(last)
  // Contents of one step in a detached partition and in one whose rows are deleted.
  clock.set(secondsAfter(spanAt(CONTENTS, in_day.metadata.expires_at).until, 3 * DAY))
  await sql.begin(async (tx) => {
    await tx`select set_config('aex.retention', 'on', true)`
    await tx`
      with moved as (delete from package_content where package_id = ${in_last.metadata.package_id} returning *)
      insert into package_content select '0002-01-01', part, package_id, before, payload, after from moved`
  })
  await sql`delete from usage_statement`
  await clean()
  const statements = await sql`select id, count(*)::int as count from usage_statement group by id`
  assert.ok(statements.length > 0)
  for (const { count } of statements) assert.equal(count, 1)
  await sql.unsafe(`
    drop trigger notes on organization_usage; drop function note_statement(); drop table usage_statement`)
})
