import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { createSecureContext, TLSSocket } from 'node:tls'
import { testAuthority, testDatabase } from '@agent-exchange/testkit'
import { openDatabase } from './database.ts'
import { DatabaseFailure } from './database-failure.ts'
import { isUnavailable } from './unavailable.ts'

const database = await testDatabase()
const upstream = new URL(database.url)
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** A server that speaks TLS, with a certificate of an authority that nobody here knows. */
const secureContext = createSecureContext(
  await (await testAuthority('Unknown CA')).server().then(({ certificate: cert, key }) => ({ cert, key })),
)
let sessions = 0
const relay = createServer((client) => void secure(client).catch(() => client.destroy()))
relay.listen(0, '127.0.0.1')
await once(relay, 'listening')
after(async () => {
  relay.close()
  await database[Symbol.asyncDispose]()
})

async function secure(client: Socket): Promise<void> {
  const [asked] = (await once(client, 'data')) as [Buffer]
  if (!asked.equals(SSL_REQUEST)) throw new Error('not without TLS')
  client.pause()
  client.write('S')
  const inside = new TLSSocket(client, { isServer: true, secureContext })
  inside.on('error', () => client.destroy())
  await once(inside, 'secure')
  sessions += 1
  const server = connect(Number(upstream.port), upstream.hostname)
  server.on('error', () => inside.destroy())
  inside.pipe(server).pipe(inside)
}

function openWith(parameters: string) {
  const address = new URL(upstream)
  address.port = String((relay.address() as AddressInfo).port)
  return openDatabase({
    target: `${address.href}${parameters}`,
    maximumConnections: 2,
    applicationName: 'test',
  })
}

test('sslmode=require encrypts, and asks nobody who the server is', async () => {
  const db = openWith('?sslmode=require')
  const [row] = await db`select application_name as name from pg_stat_activity where pid = pg_backend_pid()`
  assert.deepEqual(row, { name: 'test' })
  assert.equal(await db.begin(async (tx) => (await tx`select 1`).length), 1)
  await db.end()
  assert.equal(sessions, 2)
})

test('sslmode=verify-full and verify-ca refuse a server whose authority is unknown, before anything is said', async () => {
  for (const mode of ['verify-full', 'verify-ca']) {
    const before = sessions
    const db = openWith(`?sslmode=${mode}`)
    await assert.rejects(db`select 1`, /certificate/u)
    await db.end()
    assert.equal(sessions, before, mode)
  }
})

test('without TLS such a server ends the connection: the database is away', async () => {
  for (const parameters of ['', '?sslmode=disable']) {
    const db = openWith(parameters)
    await assert.rejects(async () => db`select 1`, isUnavailable)
    await db.end()
  }
})

test('a mode that is not known is refused with a sentence', () => {
  assert.throws(() => openWith('?sslmode=prefer'), DatabaseFailure)
})

test('a server that cannot be reached is away, for statements and transactions alike', async () => {
  const address = new URL(upstream)
  address.port = '1'
  const db = openDatabase({ target: address.href, maximumConnections: 2, applicationName: 'test' })
  await assert.rejects(async () => db`select 1`, isUnavailable)
  await assert.rejects(
    db.begin(async (tx) => tx`select 1`),
    isUnavailable,
  )
  await db.end()
})

test('a database that is missing or refuses us is as far away as one that cannot be reached', () => {
  const away = ['3D000', '28P01', '08006', '53300', '57P03', 'ENOTFOUND', 'EHOSTUNREACH', 'ETIMEDOUT']
  for (const code of away) assert.equal(isUnavailable(Object.assign(new Error('away'), { code })), true, code)
  for (const code of ['23505', '57014', '42P01', 'EINVAL'])
    assert.equal(isUnavailable(Object.assign(new Error('wrong'), { code })), false, code)
})
