import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'
import { openDatabase, type SocketTarget } from '../database.ts'
import { DatabaseFailure } from '../database-errors.ts'
import { isAlive, processesIn, signal } from './processes.ts'
import { startEmbedded } from './start-embedded.ts'
import { holdDatabase, testFolder } from './test-folder.fixture.ts'
import { waitUntil } from './wait-until.ts'

const folder = testFolder()
after(() => folder[Symbol.dispose]())
const lines: string[] = []
const start = (dataDirectory = folder.data) =>
  startEmbedded({ dataDirectory, log: (line) => lines.push(line) })

async function query(target: SocketTarget, statement: string): Promise<Record<string, unknown>[]> {
  const db = openDatabase({ target, maximumConnections: 1, applicationName: 'test' })
  try {
    return [...(await db.unsafe(statement))]
  } finally {
    await db.end()
  }
}

test('it is durable, private and asks for its password', async () => {
  await using server = await start()
  const { connection } = server
  const [settings] = await query(
    connection,
    `select current_setting('fsync') || current_setting('full_page_writes') || current_setting('synchronous_commit')
       as durable, current_setting('listen_addresses') as tcp, current_setting('data_checksums') as checksums`,
  )
  assert.deepEqual(settings, { durable: 'ononon', tcp: '', checksums: 'on' })
  assert.equal(statSync(connection.socketDirectory).mode & 0o777, 0o700)
  assert.equal(statSync(join(folder.data, 'postgres-password')).mode & 0o777, 0o600)
  await assert.rejects(
    query({ ...connection, password: 'wrong' }, 'select 1'),
    /password authentication failed/u,
  )
  await assert.rejects(query(connection, "copy (select 1) to program 'true'"), /permission denied/u)
  const [role] = await query(
    connection,
    `select rolsuper or rolcreatedb or rolcreaterole or rolreplication or rolbypassrls as privileged
     from pg_roles where rolname = current_user`,
  )
  assert.deepEqual(role, { privileged: false })
  const { user } = server.administration
  await assert.rejects(query({ ...connection, user }, 'select 1'), /password authentication failed/u)
  await query(connection, "create table kept (value text); insert into kept values ('first')")
})

test('a stopped database leaves no process and no lock, and starts again with its data', async () => {
  assert.deepEqual(processesIn(join(folder.data, 'postgres', 'cluster')), [])
  assert.ok(!existsSync(join(folder.data, 'lock')))
  await using server = await start()
  assert.deepEqual(await query(server.connection, 'select value from kept'), [{ value: 'first' }])
})

test('a folder whose service role had privileges, or the password of the superuser, starts without either', async () => {
  {
    await using server = await start()
    const { administration } = server
    await query(administration, `alter role agent_exchange superuser password '${administration.password}'`)
  }
  await using server = await start()
  const { connection, administration } = server
  const [row] = await query(
    connection,
    "select current_setting('is_superuser') as superuser, value from kept",
  )
  assert.deepEqual(row, { superuser: 'off', value: 'first' })
  const former = { ...connection, password: administration.password }
  await assert.rejects(query(former, 'select 1'), /password authentication failed/u)
})

test('a second start is refused and names the process that holds the folder', async () => {
  await using server = await start()
  await assert.rejects(start(), new RegExp(`in use by process ${process.pid}\\..*AEX_DATA_DIR`, 'u'))
  const { refused } = await holdDatabase(folder.data)
  assert.match(refused ?? '', new RegExp(`in use by process ${process.pid}\\.`, 'u'))
  assert.equal((await query(server.connection, 'select 1 as one')).length, 1)
})

test('kill -9 of the service alone: the next start takes over from the server it left', async () => {
  const { holder, pid } = await holdDatabase(folder.data)
  holder.kill('SIGKILL')
  await once(holder, 'exit')
  assert.ok(isAlive(pid), 'PostgreSQL outlives a killed service')
  await using server = await start()
  assert.notEqual(server.pid(), pid)
  assert.ok(!isAlive(pid))
  assert.ok(lines.some((line) => line.includes('earlier process left behind')))
  assert.deepEqual(await query(server.connection, 'select value from kept'), [{ value: 'first' }])
})

test('kill -9 of both: what was committed is there after recovery', async () => {
  {
    const { holder, pid, connection } = (await holdDatabase(folder.data)) as Awaited<
      ReturnType<typeof holdDatabase>
    > & { connection: SocketTarget }
    await query(connection, "insert into kept values ('second')")
    signal(pid, 'SIGKILL')
    holder.kill('SIGKILL')
    await once(holder, 'exit')
  }
  await using server = await start()
  assert.deepEqual(await query(server.connection, 'select count(*) from kept'), [{ count: 2 }])
})

test('a pid file whose number belongs to another process by now does no harm', async () => {
  writeFileSync(
    join(folder.data, 'postgres', 'cluster', 'postmaster.pid'),
    `${process.pid}\n\n\n\n\n\n\nready\n`,
  )
  writeFileSync(join(folder.data, 'lock'), `${process.pid} 1\n`)
  await using server = await start()
  assert.equal((await query(server.connection, 'select 1 as one')).length, 1)
})

test('a server that is killed comes back by itself, on the same socket', async () => {
  await using server = await start()
  const before = server.pid()
  signal(before, 'SIGKILL')
  assert.ok(await waitUntil(() => server.pid() !== before, 10_000))
  assert.deepEqual(await query(server.connection, 'select count(*) from kept'), [{ count: 2 }])
})

test('a process that ends without stopping it takes it along', async () => {
  const { holder, pid } = await holdDatabase(folder.data)
  holder.stdin.write('exit')
  await once(holder, 'exit')
  assert.equal(holder.exitCode, 3)
  assert.ok(await waitUntil(() => !isAlive(pid), 10_000))
})

test('a lost password file is replaced by whoever owns the files', async () => {
  rmSync(join(folder.data, 'postgres-password'))
  await using server = await start()
  assert.deepEqual(await query(server.connection, 'select count(*) from kept'), [{ count: 2 }])
})

test('data of another major version is refused, untouched', async () => {
  const file = join(folder.data, 'postgres', 'cluster', 'PG_VERSION')
  const version = readFileSync(file, 'utf8')
  writeFileSync(file, '14\n')
  await assert.rejects(start(), (error) => {
    assert.ok(error instanceof DatabaseFailure)
    assert.match(error.message, /made by PostgreSQL 14, and the embedded one is \d+\.\d+/u)
    return true
  })
  writeFileSync(file, version)
  await using server = await start()
  assert.ok(server.version.startsWith(version.trim()))
})

test('a path too long for a socket gets a short private folder, which goes with the server', async () => {
  const long = join(folder.path, 'x'.repeat(60), 'y'.repeat(60))
  mkdirSync(long, { recursive: true, mode: 0o755 })
  let socketDirectory = ''
  {
    await using server = await startEmbedded({
      dataDirectory: join(long, 'data'),
      log: () => undefined,
      settings: { fsync: 'off' },
    })
    socketDirectory = server.connection.socketDirectory
    assert.ok(socketDirectory.length < 60 && dirname(server.location) !== dirname(socketDirectory))
    assert.equal(statSync(socketDirectory).mode & 0o777, 0o700)
    assert.equal((await query(server.connection, 'select 1 as one')).length, 1)
  }
  assert.ok(!existsSync(socketDirectory))
})
