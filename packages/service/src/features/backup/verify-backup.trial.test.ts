import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { appendFileSync, cpSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { organizations, sendPackage, startWorld } from '@agent-exchange/testkit'
import { addressOf, openDatabase, type SocketTarget } from '@agent-exchange/database'
import { startEmbedded } from '@agent-exchange/database/embedded'
import type { MasterKeys } from '@agent-exchange/server/master-key'
import { testFolder } from '../../../../database/src/embedded/test-folder.fixture.ts'
import { checkpointFile } from '../transparency-log/checkpoint-file.ts'
import { publishedStatus, QUICK_LOG } from '../transparency-log/quick-log.fixture.ts'
import { backUp } from './back-up.ts'
import { verifyBackup } from './verify-backup.ts'

const folder = testFolder()
after(() => folder[Symbol.dispose]())
const at = (name: string) => join(folder.path, name)
const log = () => undefined
const now = '2026-03-02T08:00:00.000Z'
const masterKey = randomBytes(32)

interface Known {
  readonly keys?: MasterKeys | undefined
  readonly dataDirectory?: string
  readonly checkpoint?: string
}

async function verify(name: string, known: Known = {}) {
  const { keys = { current: masterKey }, dataDirectory = folder.data, checkpoint } = known
  const verified = await verifyBackup({
    folder: at(name),
    masterKeys: () => ('keys' in known ? known.keys : keys),
    dataDirectory,
    checkpoint,
    log,
  })
  const results = Object.fromEntries(verified.checks.map(({ name: check, result }) => [check, result]))
  const details = Object.fromEntries(verified.checks.map(({ name: check, detail }) => [check, detail]))
  return { ...verified, results, details }
}

const backup = (name: string) =>
  backUp({
    dataDirectory: folder.data,
    to: at(name),
    masterKeys: { current: masterKey },
    withKeys: false,
    now,
    log,
  })

async function as(target: SocketTarget, work: (db: ReturnType<typeof openDatabase>) => Promise<unknown>) {
  const db = openDatabase({ target, maximumConnections: 2, applicationName: 'test' })
  try {
    await work(db)
  } finally {
    await db.end()
  }
}

test('[AUD-01] a backup is proved, and the running log continues it; what is missing is named', async () => {
  await using server = await startEmbedded({ dataDirectory: folder.data, log })
  const config = { databaseUrl: addressOf(server.connection), dataDirectory: folder.data, masterKey }
  await using world = await startWorld({ profile: QUICK_LOG, config: { ...config, role: 'all' } })
  const [seats, cars] = await organizations(world, 'seats', 'cars')
  for (let sent = 0; sent < 3; sent++) await sendPackage(seats, cars)
  await publishedStatus(world)
  await backup('good')

  // The log grows after the backup, as it does in a running exchange.
  await sendPackage(seats, cars)
  await publishedStatus(world)
  const proved = await verify('good')
  assert.equal(proved.verdict, 'restorable', JSON.stringify(proved.checks))
  assert.match(proved.details['rows'] ?? '', /3 packages/u)
  assert.match(proved.details['audit chains'] ?? '', /of 3 threads are complete/u)
  assert.match(proved.details['published checkpoint'] ?? '', /running exchange continues the backup/u)

  // A checkpoint that nobody signed, and a master key of another exchange.
  const own = await fetch(`${world.url}/log/checkpoint`, {
    headers: { authorization: `Bearer ${await seats.token()}` },
  })
  const checkpoint = (await own.text()).replace(/\n\d+\n/u, '\n1\n')
  const foreign = await verify('good', { checkpoint, keys: { current: randomBytes(32) } })
  assert.deepEqual(
    [foreign.verdict, foreign.results['published checkpoint'], foreign.results['platform keys']],
    ['damaged', 'failed', 'not_proved'],
  )
  assert.match(
    foreign.details['platform keys'] ?? '',
    /The master key with fingerprint [0-9a-f]{16} is not here/u,
  )
})

test('[AUD-01] without key and exchange some things are not proved, and a fork is found', async () => {
  const stopped = await verify('good', { keys: undefined })
  assert.deepEqual(
    [stopped.verdict, stopped.results['published checkpoint'], stopped.results['platform keys']],
    ['incomplete', 'not_proved', 'not_proved'],
  )
  assert.match(stopped.details['published checkpoint'] ?? '', /aex log recover/u)

  mkdirSync(at('fork'))
  await using server = await startEmbedded({ dataDirectory: folder.data, log })
  let origin = ''
  await as(server.connection, async (db) => {
    const [state] = await db<{ origin: string }[]>`select origin from log_state`
    origin = state?.origin ?? ''
  })
  await checkpointFile(at('fork')).write({ origin, size: 2, root: randomBytes(32) })
  const fork = await verify('good', { dataDirectory: at('fork') })
  assert.deepEqual([fork.verdict, fork.results['published checkpoint']], ['damaged', 'failed'])
  assert.match(fork.details['published checkpoint'] ?? '', /is a fork/u)
})

test('a damaged file, a changed audit entry, a changed tile and a foreign key are found', async () => {
  cpSync(at('good'), at('cut'), { recursive: true })
  appendFileSync(at('cut/cluster/PG_VERSION'), ' ')
  const cut = await verify('cut')
  assert.deepEqual([cut.verdict, cut.checks.length, cut.results['files']], ['damaged', 1, 'failed'])

  {
    await using server = await startEmbedded({ dataDirectory: folder.data, log })
    await as({ ...server.administration, database: server.connection.database }, async (db) => {
      await db`alter table audit_record disable trigger all`
      await db`update audit_record set entries = regexp_replace(entries, '"kind":"[a-z_]+"', '"kind":"forged"')
        where ctid = (select ctid from audit_record limit 1)`
      await db`alter table audit_record enable trigger all`
      await db`update log_tile set bytes = set_byte(bytes, 5, get_byte(bytes, 5) # 1) where level = 0`
      await db`update platform_key set public_jwk = (
        select public_jwk from platform_key where purpose = 'token' limit 1) where purpose = 'statement'`
    })
    await backup('forged')
  }
  const forged = await verify('forged')
  assert.equal(forged.verdict, 'damaged')
  assert.deepEqual(
    ['audit chains', 'transparency log', 'platform keys', 'rows'].map((name) => forged.results[name]),
    ['failed', 'failed', 'failed', 'proved'],
    JSON.stringify(forged.checks),
  )
})
