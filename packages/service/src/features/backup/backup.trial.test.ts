import assert from 'node:assert/strict'
import { appendFileSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openDatabase, type Database, type SocketTarget } from '@agent-exchange/database'
import { restore as restoreEmbedded, startEmbedded } from '@agent-exchange/database/embedded'
import { migrate } from '@agent-exchange/database/migrations'
import { testFolder } from '../../../../database/src/embedded/test-folder.fixture.ts'
import { waitUntil } from '../../../../database/src/embedded/wait-until.ts'
import { readServiceMigrations } from '../../migrations/service-migrations.ts'
import { backUp, KEY_FILES } from './back-up.ts'

const folder = testFolder()
after(() => folder[Symbol.dispose]())
const log = () => undefined
const now = '2026-03-02T08:00:00.000Z'
const masterKey = new Uint8Array(32).fill(7)
const options = { dataDirectory: folder.data, masterKeys: { current: masterKey }, now, log }
const restore = (given: { from: string; dataDirectory: string; force: boolean; log: () => void }) =>
  restoreEmbedded({ ...given, keyFiles: KEY_FILES })
const at = (name: string) => join(folder.path, name)
const open = (target: SocketTarget) =>
  openDatabase({ target, maximumConnections: 4, applicationName: 'test' })

const numbersIn = async (dataDirectory: string) => {
  await using server = await startEmbedded({ dataDirectory, log })
  const db = open(server.connection)
  const rows = await db<{ number: number }[]>`select number from load order by number`
  await db.end()
  return rows.map(({ number }) => number)
}

async function write(db: Database, seen: { committed: number }, end: AbortSignal): Promise<void> {
  for (let number = 1; !end.aborted; number++) {
    await db`insert into load values (${number}, ${'x'.repeat(500)})`
    seen.committed = number
  }
}

test('a backup under load holds everything that was committed before it ended', async () => {
  const seen = { committed: 0, atStart: 0, afterCopy: 0 }
  {
    await using server = await startEmbedded({ dataDirectory: folder.data, log })
    const db = open(server.connection)
    await migrate(db, readServiceMigrations())
    await db`create table load (number bigint primary key, filler text)`
    const end = new AbortController()
    const writer = write(db, seen, end.signal)
    assert.ok(await waitUntil(() => seen.committed > 50, 10_000))
    seen.atStart = seen.committed
    // The line comes when the files are copied and the backup has not ended: a lower bound of what it holds.
    const progress = () => (seen.afterCopy = seen.committed)
    await backUp({ ...options, to: at('online'), withKeys: false, log: progress })
    end.abort()
    await writer
    await db.end()
  }
  assert.ok(seen.afterCopy > seen.atStart, 'rows were written while the backup ran')
  const { migration, manifest } = await restore({
    from: at('online'),
    dataDirectory: at('restored'),
    force: false,
    log,
  })
  assert.equal(migration, readServiceMigrations().at(-1)?.name)
  const numbers = await numbersIn(at('restored'))
  assert.ok(numbers.length >= seen.afterCopy && numbers.length <= seen.committed, String(numbers.length))
  assert.deepEqual(
    numbers,
    numbers.map((_, index) => index + 1),
  )
  assert.ok(!manifest.with_keys && !existsSync(at('online/keys')))
  assert.ok(!JSON.stringify(manifest).includes(Buffer.from(masterKey).toString('base64url')))
})

test('what was acknowledged just before the backup is in it, and a stopped database is backed up as well', async () => {
  const all = await numbersIn(folder.data)
  await backUp({ ...options, to: at('offline'), withKeys: true })
  assert.equal(statSync(at('offline/keys/master-key')).mode & 0o777, 0o600)
  await restore({ from: at('offline'), dataDirectory: at('again'), force: false, log })
  assert.deepEqual(await numbersIn(at('again')), all)
  assert.equal(
    readFileSync(at('again/master-key'), 'utf8').trim(),
    Buffer.from(masterKey).toString('base64url'),
  )
})

test('a forced restore sets the former database and key aside', async () => {
  writeFileSync(join(folder.data, 'master-key'), 'former\n')
  await restore({ from: at('offline'), dataDirectory: folder.data, force: true, log })
  assert.ok(existsSync(join(folder.data, 'postgres', 'cluster.before-restore-1', 'PG_VERSION')))
  assert.equal(readFileSync(join(folder.data, 'master-key.before-restore-1'), 'utf8'), 'former\n')
  assert.ok((await numbersIn(folder.data)).length > 0)
})

test('restore refuses a running database, one that is there, and a damaged or unfinished backup', async () => {
  const into = (dataDirectory: string, from = at('offline')) =>
    restore({ from, dataDirectory, force: false, log })
  {
    await using server = await startEmbedded({ dataDirectory: folder.data, log })
    await assert.rejects(into(folder.data), /in use by process/u, server.location)
    const forced = restore({ from: at('offline'), dataDirectory: folder.data, force: true, log })
    await assert.rejects(forced, /in use by process/u)
  }
  await assert.rejects(into(folder.data), /There is a database in .* already.*--force/u)
  appendFileSync(at('offline/cluster/PG_VERSION'), ' ')
  await assert.rejects(into(at('third')), /damaged: PG_VERSION is not what was written/u)
  assert.ok(!existsSync(at('third/postgres/cluster')))
  rmSync(at('offline/backup.json'))
  await assert.rejects(into(at('third')), /not a complete backup/u)
})

test('a backup is never written over something else, nor made of nothing', async () => {
  await assert.rejects(backUp({ ...options, to: folder.data, withKeys: false }), /is not empty/u)
  mkdirSync(at('empty'))
  const nothing = backUp({ ...options, dataDirectory: at('empty'), to: at('unused'), withKeys: false })
  await assert.rejects(nothing, /There is no database/u)
})
