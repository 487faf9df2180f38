import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { operations, type PackageEvidence } from '@agent-exchange/protocol'
import {
  movableClock,
  organizations,
  sendPackage,
  sendReceipt,
  startWorld,
  type Organization,
  until,
  type World,
} from '@agent-exchange/testkit'
import {
  type Database,
  isReadOnly,
  isUnavailable,
  openDatabase,
  type Queries,
  sqlState,
} from '@agent-exchange/database'
import { startStreamingPair } from '../../../database/src/streaming-standby.fixture.ts'
import { createReadReplica } from '../kernel/read-replica.ts'
import {
  readDatabaseIdentity,
  readReplayState,
  toWalPosition,
  WAL_POSITION_COLUMNS,
  type WalPosition,
  type WalPositionRow,
} from '../kernel/wal-position.ts'

const pair = await startStreamingPair()
const { standbyAdministration: standby } = pair
const [onPrimary, onStandby] = [pair.primaryUrl, pair.standbyUrl].map((target) =>
  openDatabase({ target, maximumConnections: 4, applicationName: 'test' }),
) as [Database, Database]

const startWith = (databaseReadUrl: string | undefined, beside?: World) =>
  startWorld({ config: { databaseUrl: pair.primaryUrl, databaseReadUrl }, ...(beside && { beside }) })
const world = await startWith(pair.standbyUrl)
const [seats, cars] = await organizations(world, 'seats', 'cars')
after(async () => {
  await world[Symbol.asyncDispose]()
  await Promise.all([onPrimary.end(), onStandby.end()])
  await pair[Symbol.asyncDispose]()
})

async function readsBy({ operatorUrl }: World): Promise<Record<string, number>> {
  const text = await (await fetch(`${operatorUrl}/metrics`)).text()
  const found = text.matchAll(/^aex_replica_reads_total\{result="(\w+)"\} (\d+)$/gmu)
  return Object.fromEntries([...found].map(([, result = '', count]) => [result, Number(count)]))
}

/** The reads during the work, by result; results that did not occur are left out. */
async function countedReads(work: () => Promise<unknown>, of = world): Promise<Record<string, number>> {
  const before = await readsBy(of)
  await work()
  const now = await readsBy(of)
  const changes = Object.entries(now).map(
    ([result, count]) => [result, count - (before[result] ?? 0)] as const,
  )
  return Object.fromEntries(changes.filter(([, count]) => count > 0))
}

async function evidenceOf(packageId: string, by: Organization = seats, at = world): Promise<PackageEvidence> {
  const answer = await by.get(`/v1/audit/packages/${packageId}`, { at: at.url })
  assert.equal(answer.status, 200, answer.text)
  return answer.body as unknown as PackageEvidence
}

async function primaryPosition(): Promise<WalPosition> {
  const [row] = await onPrimary<WalPositionRow[]>`select ${WAL_POSITION_COLUMNS}`
  assert.ok(row)
  return toWalPosition(row)
}

/** Waits until the replica has replayed everything, and ends the time in which reads skip it. */
async function caughtUp(): Promise<void> {
  const position = await primaryPosition()
  await until('the standby follows', async () => (await readReplayState(onStandby, position)).hasReplayed)
  endPause()
}

const endPause = () => world.clock.advance(6)

const receiptsOf = ({ receipts }: PackageEvidence) => receipts.map(({ state }) => state)

test('[AUD-01] pages of skills and evidence come from the replica, everything else from the primary', async () => {
  const { metadata } = await sendPackage(seats, cars)
  await caughtUp()
  const paths = [
    `/v1/audit/packages/${metadata.package_id}`,
    `/v1/audit/threads/${metadata.thread_id}`,
    operations.listSkillReleases.path,
  ]
  const used = await countedReads(async () => {
    for (const path of paths) {
      const answer = await seats.get(path)
      assert.equal(answer.status, 200, answer.text)
    }
    assert.equal((await seats.get('/v1/audit/packages/pkg_unknown')).status, 404)
    assert.equal((await seats.get(`/v1/packages/${metadata.package_id}`)).status, 200)
  })
  assert.deepEqual(used, { replica: 4 })
  await using plain = await startWith(undefined, world)
  const [fromReplica, fromPrimary] = [
    await evidenceOf(metadata.package_id),
    await evidenceOf(metadata.package_id, seats, plain),
  ]
  assert.deepEqual({ ...fromReplica, generated_at: '' }, { ...fromPrimary, generated_at: '' })
})

test('[AUD-01] a caller reads its own writes, however busy the primary is', async () => {
  const { metadata } = await sendPackage(seats, cars)
  let isWriting = true
  const load = (async () => {
    while (isWriting) await sendPackage(cars, seats)
  })()
  for (const state of ['received', 'opened', 'failed'] as const) {
    await sendReceipt(cars, metadata, state)
    assert.ok(receiptsOf(await evidenceOf(metadata.package_id, cars)).includes(state), state)
  }
  isWriting = false
  await load
})

test('[AUD-01] with paused replay, evidence is never older than the last acknowledged write', async () => {
  const { metadata } = await sendPackage(seats, cars)
  await caughtUp()
  await evidenceOf(metadata.package_id)
  await standby`select pg_wal_replay_pause()`
  try {
    const used = await countedReads(async () => {
      for (const state of ['received', 'opened', 'failed'] as const) {
        await sendReceipt(cars, metadata, state)
        for (const by of [seats, cars])
          assert.ok(receiptsOf(await evidenceOf(metadata.package_id, by)).includes(state), state)
        // The next read checks the replica again instead of skipping it.
        endPause()
      }
      const { metadata: unknownToReplica } = await sendPackage(seats, cars)
      await evidenceOf(unknownToReplica.package_id)
    })
    assert.deepEqual(used, { behind: 7 })
  } finally {
    await standby`select pg_wal_replay_resume()`
  }
  await caughtUp()
  assert.deepEqual(await countedReads(() => evidenceOf(metadata.package_id)), { replica: 1 })
})

test('a slow read that succeeds after another one found the replica behind does not end the pause', async () => {
  const { timeline } = await primaryPosition()
  const [results, changes]: [string[], string[]] = [[], []]
  const clock = movableClock('2026-03-02T08:00:00Z')
  const { read } = createReadReplica({
    primary: onPrimary,
    replica: onStandby,
    identity: await readDatabaseIdentity(onPrimary),
    clock,
    onRead: (result) => void results.push(result),
    onChange: (result) => void changes.push(result),
  })
  const isReplica = async (queries: Queries) =>
    (await queries<{ answer: boolean }[]>`select pg_is_in_recovery() as answer`)[0]?.answer
  const [old, future] = [
    { lsn: '0/1', timeline },
    { lsn: 'FFFFFFFF/0', timeline },
  ]
  const hasPaused = Promise.withResolvers<void>()
  const slow = read(old, async (queries) => {
    await hasPaused.promise
    return isReplica(queries)
  })
  assert.equal(await read(future, isReplica), false)
  hasPaused.resolve()
  assert.equal(await slow, true)
  assert.equal(await read(old, isReplica), false)
  assert.deepEqual([results, changes], [['behind', 'replica', 'behind'], ['behind']])
  clock.advance(1)
  assert.equal(await read(old, isReplica), true)
  assert.deepEqual(changes, ['behind', 'replica'])
})

test('a standby of another timeline, and a server that is no standby, count as behind', async () => {
  const { timeline } = await primaryPosition()
  const has = async (at: Database, on: number) =>
    (await readReplayState(at, { lsn: '0/1', timeline: on })).hasReplayed
  assert.deepEqual(
    [await has(onStandby, timeline), await has(onStandby, timeline + 1), await has(onPrimary, timeline)],
    [true, false, false],
  )
})

test('the WAL position that a former primary refuses means that the database is unavailable', async () => {
  await assert.rejects(
    onStandby`select ${WAL_POSITION_COLUMNS}`,
    (error) => isUnavailable(error) && isReadOnly(error) && sqlState(error) === '55000',
  )
  // The same SQLSTATE for another reason.
  await onPrimary`create sequence unused`
  await assert.rejects(
    onPrimary`select currval('unused')`,
    (error) => !isUnavailable(error) && sqlState(error) === '55000',
  )
  await onPrimary`drop sequence unused`
})

test('another database at AEX_DATABASE_READ_URL is never read, and the log says so', async () => {
  const { metadata } = await sendPackage(seats, cars)
  await using wrong = await startWith(pair.standbyAdministrationUrl, world)
  const used = await countedReads(() => evidenceOf(metadata.package_id, seats, wrong), wrong)
  assert.deepEqual(used, { unavailable: 1 })
  assert.match(wrong.logged.join(''), /AEX_DATABASE_READ_URL leads to another database/u)
})

test('a replica that does not answer delays one read by two seconds, and the next one not at all', async (t) => {
  const sockets: Socket[] = []
  const server = createServer((socket) => void sockets.push(socket)).listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.after(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = server.address() as AddressInfo
  const { metadata } = await sendPackage(seats, cars)
  await using slow = await startWith(`postgres://u:p@127.0.0.1:${port}/d`, world)
  const timed = async () => {
    const started = performance.now()
    await evidenceOf(metadata.package_id, seats, slow)
    return performance.now() - started
  }
  const first = await timed()
  assert.ok(first > 1_900 && first < 10_000, `${first} ms`)
  const second = await timed()
  assert.ok(second < 1_900, `${second} ms`)
})

test('a replica that freezes after it was used delays no other read, and serves again when it is back', async (t) => {
  const address = new URL(pair.standbyUrl)
  const socketPath = `${address.searchParams.get('host')}/.s.PGSQL.${address.port}`
  const sockets = new Set<Socket>()
  let isFrozen = false
  /** Like a frozen machine, it closes nothing and answers nothing; what is sent to it meanwhile is lost. */
  const relay = createServer((client) => {
    const upstream = connect(socketPath)
    for (const socket of [client, upstream]) sockets.add(socket.on('error', () => undefined))
    client.on('data', (bytes) => isFrozen || upstream.write(bytes)).on('close', () => upstream.destroy())
    upstream.on('data', (bytes) => isFrozen || client.write(bytes)).on('close', () => client.destroy())
  }).listen(0, '127.0.0.1')
  await once(relay, 'listening')
  t.after(() => {
    relay.close()
    for (const socket of sockets) socket.destroy()
  })
  const { port } = relay.address() as AddressInfo
  const url = Object.assign(new URL(address), { hostname: '127.0.0.1', port: String(port), search: '' }).href
  const { metadata } = await sendPackage(seats, cars)
  await using freezing = await startWith(url, world)
  await caughtUp()
  const read = () => evidenceOf(metadata.package_id, seats, freezing)
  const readMany = () => Promise.all(Array.from({ length: 30 }, read))
  assert.ok(((await countedReads(readMany, freezing))['replica'] ?? 0) > 0)
  // A read that found the replica behind would make the next ones skip it.
  endPause()
  isFrozen = true
  // All connections to the replica wait for an answer.
  const used = await countedReads(readMany, freezing)
  assert.deepEqual(used, { unavailable: 30 })
  isFrozen = false
  const usesReplica = async () => {
    endPause()
    return (await countedReads(read, freezing))['replica'] === 1
  }
  await until('the replica is used again', usesReplica, { pollMs: 100 })
})

test('[AUD-01] evidence outlasts the end of the replica', async () => {
  const { metadata } = await sendPackage(seats, cars)
  await caughtUp()
  await evidenceOf(metadata.package_id)
  await pair.stopStandby()
  const used = await countedReads(async () => {
    for (let i = 0; i < 3; i++) await evidenceOf(metadata.package_id)
  })
  assert.deepEqual(used, { unavailable: 3 })
})
