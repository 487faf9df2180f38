import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import { decodeBundle, LABEL_LENGTH } from '@agent-exchange/log'
import { testDatabase, until } from '@agent-exchange/testkit'
import { startExchange, type Exchange } from '../shared/exchange.ts'
import { startLoad, type Ledger } from '../shared/ledger.ts'
import { killed } from '../shared/serve-process.ts'
import { flipped } from './altered-proofs.ts'
import { fsck, isPublished, statusWhen, verifierKeyOf, writeProfile } from './log-under-trial.ts'
import type { LogTrial } from './log-trial.ts'

const TOOL = 'tessera fsck'
const KILLS = 4
const LOAD = { clients: 6, attempts: 400 }
/** So that the tree has a hash tile of the second level. */
const MINIMUM_LEAVES = 300

/** Two processes append to one log, are killed in turn, and an outside program verifies all of it. */
export async function tryFsck({ judges, folder, report }: LogTrial): Promise<void> {
  await using database = await testDatabase()
  const env = { AEX_PROFILE: writeProfile(folder, 'fsck.example/log') }
  await using one = await startExchange({ databaseUrl: database.url, env })
  await using two = await startExchange({ beside: one, env })
  const [seats, cars] = await Promise.all([one.organization('seats'), one.organization('cars')])
  const token = await seats.token()
  const verifierKey = await verifierKeyOf(one, token)
  const check = () => fsck({ judges, folder, url: `${one.url}/log/`, verifierKey, token })

  await report.step(TOOL, 'live log, two processes, kill -9', async () => {
    const ledger: Ledger = []
    const pairs = [[seats, cars] as const, [cars, seats] as const]
    const load = startLoad(ledger, { ...LOAD, pairs, at: [one.url, two.url] })
    const sequencers = new Set<string | null>()
    // In turn: after the first kill, the process that is killed is the one that sequences.
    for (let kill = 0; kill < KILLS; kill++) {
      await sleep(700 + Math.random() * 500)
      await restart(kill % 2 === 0 ? one : two)
      sequencers.add((await statusWhen(one, ({ sequencer }) => sequencer !== null)).sequencer)
    }
    assert.ok(sequencers.size >= KILLS - 1, `${sequencers.size} processes sequenced`)
    await until(`${MINIMUM_LEAVES} packages are accepted`, () => accepted(ledger) >= MINIMUM_LEAVES, {
      limitMs: 60_000,
      pollMs: 100,
    })
    const live = await check()
    assert.ok(live.isSound, live.output)
    await load.stop()
    const { size } = await statusWhen(one, isPublished)
    const final = await check()
    assert.ok(final.isSound, final.output)
    await requireOneLeafEach(one, size)
    return `${KILLS} kills, ${sequencers.size} sequencers, ${accepted(ledger)} packages, ${size} leaves, sound while it grew and after`
  })

  await report.step(TOOL, 'one flipped bit in each kind of tile', async () => {
    const tiles = await one.sql<{ level: number; tile_index: number; bytes: Uint8Array }[]>`
      select distinct on (level) level, tile_index, bytes from log_tile order by level, tile_index`
    assert.deepEqual(
      tiles.map(({ level }) => level),
      [-1, 0, 1],
    )
    for (const { level, tile_index, bytes } of tiles) {
      const write = (content: Uint8Array) => one.sql`
        update log_tile set bytes = ${Buffer.from(content)} where level = ${level} and tile_index = ${tile_index}`
      // The last byte: in a bundle, the first bytes are the length of an entry.
      await write(flipped(bytes))
      const damaged = await check()
      assert.ok(!damaged.isSound, `a flipped bit at level ${level} was not found\n${damaged.output}`)
      await write(bytes)
    }
    const repaired = await check()
    assert.ok(repaired.isSound, repaired.output)
    return `found in entries and in hashes of ${tiles.length - 1} levels; sound again after each repair`
  })
}

/** Every record and key event is in the log exactly once, whatever the kills interrupted. */
async function requireOneLeafEach({ sql }: Exchange, size: number): Promise<void> {
  const [counted] = await sql<{ events: number }[]>`
    select ((select count(*) from audit_record) + (select count(*) from log_key_event))::integer as events`
  assert.equal(counted?.events, size)
  const bundles = await sql<{ width: number; bytes: Uint8Array }[]>`
    select width, bytes from log_tile where level = -1`
  const leaves = bundles.flatMap(({ width, bytes }) => decodeBundle(bytes, width))
  const labels = leaves.map((leaf) => Buffer.from(leaf.subarray(0, LABEL_LENGTH)).toString('hex'))
  assert.equal(new Set(labels).size, size)
}

async function restart(exchange: Exchange): Promise<void> {
  await killed(exchange.current())
  await exchange.start()
}

const accepted = (ledger: Ledger) => ledger.filter(({ answer }) => answer !== undefined).length
