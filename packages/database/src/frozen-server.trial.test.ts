import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { after, afterEach, test } from 'node:test'
import { testDatabase, until } from '@agent-exchange/testkit'
import { openConnection } from './connection.ts'
import { connectionOptionsOf } from './database-address.ts'
import { openDatabase } from './database.ts'
import { isUnavailable } from './database-errors.ts'

const database = await testDatabase()
const server = new URL(database.url)
const sockets = new Set<Socket>()
let isFrozen = false
/** Like a frozen machine, it accepts connections, closes none and answers nothing. */
const relay = createServer((client) => {
  sockets.add(client)
  if (isFrozen) return
  const upstream = connect(Number(server.port), server.hostname)
  client.on('data', (bytes) => isFrozen || upstream.write(bytes)).on('error', () => undefined)
  upstream.on('data', (bytes) => isFrozen || client.write(bytes)).on('error', () => undefined)
  client.on('close', () => upstream.destroy())
  upstream.on('close', () => client.destroy())
}).listen(0, '127.0.0.1')
await once(relay, 'listening')
const target = Object.assign(new URL(server), { port: String((relay.address() as AddressInfo).port) }).href
afterEach(() => {
  isFrozen = false
})
after(async () => {
  relay.close()
  sockets.forEach((socket) => socket.destroy())
  await database[Symbol.asyncDispose]()
})

test('statements at a server that froze fail once a ping is not answered, and pass once it is back', async () => {
  const settings = { maximumConnections: 2, applicationName: 'test', pingMs: 50, pingLimitMs: 1_500 }
  let [losses, answers] = [0, 0]
  const answered = async () => {
    const before = answers
    await until('a ping is answered', () => answers > before)
  }
  const db = openDatabase({
    ...settings,
    target,
    purpose: 'requests',
    onServerGone: () => (losses += 1),
    onServerAnswer: () => (answers += 1),
  })
  await db`select 1`
  await answered()
  await db.begin((tx) => tx`select 1`)
  isFrozen = true
  const answersBefore = answers
  const started = performance.now()
  const stalled = [
    db`insert into organization (organization_id) values ('org_frozen')`,
    db.begin((tx) => tx`select 1`),
  ]
  for (const { status } of await Promise.allSettled(stalled)) assert.equal(status, 'rejected')
  assert.ok(performance.now() - started < 20_000, 'it waited for the limit of an answer')
  assert.equal(losses, 1)
  assert.ok(answers <= answersBefore + 1, 'a frozen server does not answer')
  isFrozen = false
  assert.equal((await db`select 1`).length, 1)
  await answered()
  await db.end()
})

test('a connection whose statement is not answered in time is ended', async () => {
  const options = {
    ...connectionOptionsOf(target, 'test', {}),
    settings: { TimeZone: 'UTC' },
    answerLimitMs: 1_000,
  }
  const connection = await openConnection(options)
  await connection.sql`select 1`
  // An idle connection has no limit.
  await new Promise((resolve) => setTimeout(resolve, 1_200))
  assert.equal(connection.isLost, false)
  isFrozen = true
  await assert.rejects(connection.sql`select 1`, (error) => isUnavailable(error))
  assert.equal(connection.isLost, true)
})

test('after a failure to connect, others are refused at once instead of waiting as well', async () => {
  const db = openDatabase({ target, maximumConnections: 4, applicationName: 'test' })
  isFrozen = true
  const first = db.begin((tx) => tx`select 1`)
  await assert.rejects(first, isUnavailable)
  const started = performance.now()
  await assert.rejects(
    db.begin((tx) => tx`select 1`),
    isUnavailable,
  )
  assert.ok(performance.now() - started < 3_000)
  await db.end()
})
