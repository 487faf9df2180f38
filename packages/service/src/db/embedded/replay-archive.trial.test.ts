import assert from 'node:assert/strict'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openDatabase, type Database, type SocketTarget } from '../database.ts'
import { migrate } from '../../migrations/migrate.ts'
import { backUp } from './backup.ts'
import type { RecoveryTarget } from './replay-archive.ts'
import { restore } from './restore.ts'
import { startEmbedded } from './start-embedded.ts'
import { testFolder } from './test-folder.fixture.ts'
import { waitUntil } from './wait-until.ts'

const folder = testFolder()
after(() => folder[Symbol.dispose]())
const log = () => undefined
const at = (name: string) => join(folder.path, name)
const archive = at('archive')
const masterKey = new Uint8Array(32).fill(7)

async function writing(
  dataDirectory: string,
  work: (db: Database, administration: Database) => Promise<void>,
): Promise<void> {
  await using cleanup = new AsyncDisposableStack()
  const server = cleanup.use(await startEmbedded({ dataDirectory, walArchive: archive, log }))
  const open = (target: SocketTarget) => {
    const db = openDatabase({ target, maximumConnections: 2, applicationName: 'test' })
    cleanup.defer(() => db.end())
    return db
  }
  await work(open(server.connection), open(server.administration))
}

test('an archive is replayed to its end, and an unreachable target replaces nothing', async () => {
  await writing(folder.data, async (db) => {
    await migrate(db)
    await db`create table load (number bigint primary key)`
    await db`insert into load values (1)`
    const now = '2026-03-02T08:00:00.000Z'
    await backUp({ dataDirectory: folder.data, to: at('backup'), masterKey, withKeys: false, now, log })
    await db`insert into load values (2)`
  })
  const replay = (until: RecoveryTarget['until'], from = archive) =>
    restore({
      from: at('backup'),
      dataDirectory: folder.data,
      force: true,
      archive: { folder: from, until },
      log,
    })
  await assert.rejects(
    replay({ time: '2099-01-01T00:00:00Z' }),
    /recovery ended before configured recovery target/u,
  )
  await assert.rejects(replay('end', at('nowhere')), /cannot be read/u)
  assert.ok(!existsSync(join(folder.data, 'postgres', 'cluster.before-restore-1')), 'nothing was replaced')

  await replay('end')
  await writing(folder.data, async (db) => {
    const rows = await db<{ number: number }[]>`select number from load order by number`
    assert.deepEqual(
      rows.map(({ number }) => number),
      [1, 2],
    )
  })
})

test('a restored database begins a new timeline, so that it can use the same archive', async () => {
  await restore({
    from: at('backup'),
    dataDirectory: at('again'),
    force: false,
    archive: { folder: archive, until: 'backup' },
    log,
  })
  await writing(at('again'), async (db, administration) => {
    const rows = await db<{ number: number }[]>`select number from load`
    assert.deepEqual(
      rows.map(({ number }) => number),
      [1],
      'the archive was not replayed beyond the backup',
    )
    await db`insert into load values (3)`
    await administration`select pg_switch_wal()`
    const archived = async () => {
      const [row] = await db<{ failed: number; archived: number }[]>`
        select failed_count as failed, archived_count as archived from pg_stat_archiver`
      assert.equal(row?.failed, 0)
      return (row?.archived ?? 0) > 0
    }
    let isArchived = false
    assert.ok(
      await waitUntil(() => {
        void archived().then((result) => (isArchived = result))
        return isArchived
      }, 20_000),
    )
  })
  const timelines = new Set(
    readdirSync(archive)
      .filter((name) => /^[0-9A-F]{24}$/u.test(name))
      .map((name) => name.slice(0, 8)),
  )
  assert.ok(timelines.size >= 2, [...timelines].join())
})
