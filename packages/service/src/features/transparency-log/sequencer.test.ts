import assert from 'node:assert/strict'
import { randomBytes, randomInt } from 'node:crypto'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { edgeRoot, EMPTY_EDGE, openCheckpoint, parseVerifierKey, type VerifierKey } from '@agent-exchange/log'
import {
  organizations,
  sendPackage,
  startWorld,
  until,
  type Organization,
  type World,
} from '@agent-exchange/testkit'
import { openDatabase } from '@agent-exchange/database'
import { numberOf } from '../../kernel/named-locks.ts'
import { appendPending } from './append-to-tree.ts'
import { confirmHead } from './log-state-store.ts'
import { SEQUENCER_LOCK } from './sequencer-lock.ts'

const profile = {
  'O-07': { transparency_checkpoint_milliseconds: 100, transparency_sequence_milliseconds: 20 },
}

const statusOf = async (world: World) => (await world.operate('GET', '/transparency-log')).body
const keyOf = async (by: Organization): Promise<VerifierKey> =>
  parseVerifierKey(((await by.get('/log/key')).body['verifier_keys'] as string[])[0] ?? '')
const published = (world: World) =>
  until('everything published', async () => {
    const status = await statusOf(world)
    return status['pending_leaves'] === 0 && status['published_size'] === status['size'] && status
  })

test('two processes write one tree: every leaf is in it once', async () => {
  await using first = await startWorld({ profile, config: { role: 'all' } })
  await using second = await startWorld({ profile, config: { role: 'all' }, beside: first })
  const [seats, cars] = await organizations(first, 'seats', 'cars')
  await Promise.all(Array.from({ length: 40 }, () => sendPackage(seats, cars)))
  const status = await published(second)
  assert.equal(status['state'], 'running')
  const [{ records, events, leaves } = { records: 0, events: 0, leaves: 0 }] = await first.sql<
    { records: number; events: number; leaves: number }[]
  >`
    select (select count(*)::integer from audit_record) as records,
      (select count(*)::integer from agent_key_event) as events,
      (select sum(leaf_count)::integer from log_batch) as leaves`
  assert.equal(leaves, records + events)
  assert.equal(status['size'], leaves)
  const checkpoint = await openCheckpoint((await seats.get('/log/checkpoint')).text, [await keyOf(seats)])
  assert.equal(checkpoint.size, leaves)
})

test('a second writer with a stale edge fails and changes nothing', async () => {
  await using world = await startWorld({ profile })
  await using cleanup = new AsyncDisposableStack()
  const db = openDatabase({ target: world.databaseUrl, maximumConnections: 4, applicationName: 'stale' })
  cleanup.defer(() => db.end({ timeout: 1 }))
  const queue = () =>
    world.sql`insert into log_pending (batch_id, secret, leaves)
      values (${randomBytes(16)}, ${randomBytes(32)}, ${randomBytes(64)})`
  await queue()
  const grown = await appendPending(db, EMPTY_EDGE)
  assert.ok(grown.size > 0)
  await queue()
  await assert.rejects(appendPending(db, EMPTY_EDGE), { name: 'SequencerFenced' })
  const [state] = await world.sql<{ size: string }[]>`select size from log_state`
  assert.equal(Number(state?.size), grown.size)
  assert.equal((await world.sql`select from log_pending`).length, 1)
})

test('an append does not wait for the disk, and a checkpoint confirms the tree before it is signed', async () => {
  await using world = await startWorld({ profile })
  await using cleanup = new AsyncDisposableStack()
  await world.sql.unsafe(`
    create table modes (mode text);
    create function note_mode() returns trigger language plpgsql as
      $$ begin insert into modes values (current_setting('synchronous_commit')); return null; end $$;
    create trigger notes after update on log_state for each row execute function note_mode();
    do $$ begin execute format('alter database %I set synchronous_commit = on', current_database()); end $$`)
  const db = openDatabase({ target: world.databaseUrl, maximumConnections: 4, applicationName: 'append' })
  cleanup.defer(() => db.end({ timeout: 1 }))
  await world.sql`insert into log_pending (batch_id, secret, leaves)
    values (${randomBytes(16)}, ${randomBytes(32)}, ${randomBytes(64)})`
  const grown = await appendPending(db, EMPTY_EDGE)
  await confirmHead(db, { size: grown.size, root: edgeRoot(grown) })
  const modes = await world.sql<{ mode: string }[]>`select mode from modes`
  assert.deepEqual(
    modes.map(({ mode }) => mode),
    ['off', 'on'],
  )
  // As after a crash that lost the last append.
  await assert.rejects(confirmHead(db, { size: grown.size + 1, root: edgeRoot(grown) }), {
    name: 'SequencerFenced',
  })
})

test('a process whose lock is lost stops, another one goes on, and no leaf is lost or doubled', async () => {
  await using first = await startWorld({ profile, config: { role: 'all' } })
  await using second = await startWorld({ profile, config: { role: 'all' }, beside: first })
  const [seats, cars] = await organizations(first, 'seats', 'cars')
  const holders = new Set<unknown>()
  // Either process may take a lock that is free, so it may stay with one for a few rounds. Both try every 500 ms; pauses
  // of random length keep the rounds out of step with that.
  for (let round = 0; round < 4 || (holders.size < 2 && round < 50); round++) {
    await sleep(randomInt(500))
    const sent = Promise.all(Array.from({ length: 5 }, () => sendPackage(seats, cars)))
    // Ends the session that holds this lock, as a network failure would. Sends hold other advisory locks.
    await first.sql`select pg_terminate_backend(pid) from pg_locks
      where locktype = 'advisory' and granted and objsubid = 1
        and (classid::bigint << 32 | objid::bigint) = ${numberOf('worker', SEQUENCER_LOCK)}::text::bigint
        and database = (select oid from pg_database where datname = current_database())`
    await sent
    holders.add((await published(second))['sequencer'])
  }
  const [{ wanted, leaves, distinct } = { wanted: 0, leaves: 0, distinct: 0 }] = await first.sql<
    { wanted: number; leaves: number; distinct: number }[]
  >`
    select ((select count(*) from audit_record) + (select count(*) from agent_key_event))::integer as wanted,
      (select sum(leaf_count)::integer from log_batch) as leaves,
      (select count(distinct batch_id)::integer from log_batch) as distinct`
  assert.equal(leaves, wanted)
  assert.ok(distinct > 0)
  assert.ok(holders.size > 1, 'the lock changed hands')
  const checkpoint = await openCheckpoint((await seats.get('/log/checkpoint')).text, [await keyOf(seats)])
  assert.equal(checkpoint.size, leaves)
})
