import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openConnection } from './connection.ts'
import { connectionOptionsOf } from './database-address.ts'
import { openDatabase, type SocketTarget } from './database.ts'
import { DatabaseFailure, isUnavailable } from './database-errors.ts'
import { preparePlace } from './embedded/place.ts'
import { prepareRuntime } from './embedded/runtime.ts'
import { runServer } from './embedded/server-process.ts'
import { serverSettings } from './embedded/settings.ts'
import { makeSocketDirectory, removeSocketDirectory } from './embedded/socket-directory.ts'
import { startEmbedded } from './embedded/start-embedded.ts'
import { testFolder } from './embedded/test-folder.fixture.ts'

const folder = testFolder()
const settings = { fsync: 'off' }
const log = () => undefined
const start = () => startEmbedded({ dataDirectory: folder.data, log, settings })
await (await start())[Symbol.asyncDispose]()
const copy = join(folder.path, 'standby')
execFileSync('cp', ['-a', folder.data, copy])
const primary = await start()
const standby = await startStandby()
after(async () => {
  await standby[Symbol.asyncDispose]()
  await primary[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

/** A second server with the same roles and databases, which follows nobody and stays in recovery. */
async function startStandby(): Promise<AsyncDisposable & { readonly socketDirectory: string }> {
  const place = preparePlace(copy, log)
  writeFileSync(join(place.cluster, 'standby.signal'), '')
  const socketDirectory = makeSocketDirectory(place, primary.connection.port)
  const runtime = prepareRuntime(place, log)
  const server = await runServer({ place, runtime, socketDirectory, settings: serverSettings(settings), log })
  return {
    socketDirectory,
    async [Symbol.asyncDispose]() {
      await server.stop()
      removeSocketDirectory(socketDirectory, place)
    },
  }
}

function addressOn(hosts: readonly string[], more = ''): string {
  const { user, password, port, database }: SocketTarget = primary.connection
  return `postgres://${user}:${password}@/${database}?host=${hosts.map(encodeURIComponent).join(',')}&port=${port}${more}`
}
const both = [standby.socketDirectory, primary.connection.socketDirectory]

async function isStandby(target: string): Promise<unknown> {
  const db = openDatabase({ target, maximumConnections: 2, applicationName: 'test' })
  try {
    const inTransaction = await db.begin(
      async (tx) => (await tx`select pg_is_in_recovery() as is`)[0]?.['is'],
    )
    const [row] = await db`select pg_is_in_recovery() as is`
    assert.equal(row?.['is'], inTransaction)
    return inTransaction
  } finally {
    await db.end()
  }
}

test('hosts are tried in order; target_session_attrs passes over a server of the other role', async () => {
  assert.equal(await isStandby(addressOn(both)), true)
  assert.equal(await isStandby(addressOn(both, '&target_session_attrs=read-write')), false)
  assert.equal(await isStandby(addressOn(both.toReversed(), '&target_session_attrs=primary')), false)
  assert.equal(await isStandby(addressOn(both.toReversed(), '&target_session_attrs=standby')), true)
  await assert.rejects(
    isStandby(addressOn(both.slice(0, 1), '&target_session_attrs=read-write')),
    isUnavailable,
  )
})

test('a host that had the role comes first, and one that hung comes last', async () => {
  const options = connectionOptionsOf(addressOn(both, '&target_session_attrs=primary'), 'test', {
    TimeZone: 'UTC',
  })
  const [first, second] = options.hosts
  await (await openConnection(options)).end()
  assert.deepEqual(options.known, { found: second })
  Object.assign(options.known, { found: undefined, hung: second })
  await (await openConnection(options)).end()
  assert.deepEqual(options.known, { found: second, hung: undefined })
  assert.deepEqual(options.hosts, [first, second])
})

test('a host that cannot be reached is passed over; where all fail, the database is away', async () => {
  const gone = join(folder.path, 'gone')
  assert.equal(await isStandby(addressOn([gone, ...both])), true)
  await assert.rejects(isStandby(addressOn([gone, gone])), isUnavailable)
})

test('after a refused login no other host is tried', async () => {
  const wrong = addressOn(both).replace(/:[^:@]*@/u, ':wrong@')
  await assert.rejects(isStandby(wrong), { code: '28P01' })
})

test('an unknown role of the server is refused with a sentence', () => {
  const target = addressOn(both, '&target_session_attrs=fastest')
  const open = () => openDatabase({ target, maximumConnections: 2, applicationName: 'test' })
  assert.throws(open, (error) => error instanceof DatabaseFailure && /read-write/u.test(error.message))
})
