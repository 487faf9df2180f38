import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { createSecureContext, TLSSocket } from 'node:tls'
import { testAuthority, testDatabase } from '@agent-exchange/testkit'
import { openDatabase } from './database.ts'
import { DatabaseFailure, isUnavailable } from './database-errors.ts'

const database = await testDatabase()
const upstream = new URL(database.url)
const SSL_REQUEST = Buffer.from([0, 0, 0, 8, 4, 210, 22, 47])

/** A server that speaks TLS, with a certificate of an authority that only `sslrootcert` makes known. */
const authority = await testAuthority('Private CA')
const { certificate, key } = await authority.server('localhost')
const secureContext = createSecureContext({ cert: certificate, key, ca: authority.certificate })
const folder = mkdtempSync(join(tmpdir(), 'aex-tls-'))
const file = (name: string, content: string) => {
  writeFileSync(join(folder, name), content)
  return encodeURIComponent(join(folder, name))
}
const rootFile = file('root.pem', authority.certificate)
const otherRootFile = file('other.pem', (await testAuthority('Another CA')).certificate)
/** Whether the relay asks for a client certificate, and whose it got. */
let requestCert = false
let clientNames: unknown[] = []
let sessions = 0
const relay = createServer((client) => void secure(client).catch(() => client.destroy()))
relay.listen(0, '127.0.0.1')
await once(relay, 'listening')
after(async () => {
  relay.close()
  rmSync(folder, { recursive: true })
  await database[Symbol.asyncDispose]()
})

async function secure(client: Socket): Promise<void> {
  const [asked] = (await once(client, 'data')) as [Buffer]
  if (!asked.equals(SSL_REQUEST)) throw new Error('not without TLS')
  client.pause()
  client.write('S')
  const inside = new TLSSocket(client, {
    isServer: true,
    secureContext,
    requestCert,
    rejectUnauthorized: requestCert,
  })
  inside.on('error', () => client.destroy())
  await once(inside, 'secure')
  sessions += 1
  clientNames.push(inside.getPeerCertificate().subject?.CN)
  const server = connect(Number(upstream.port), upstream.hostname)
  server.on('error', () => inside.destroy())
  inside.pipe(server).pipe(inside)
}

function openWith(parameters: string, hostname = upstream.hostname) {
  const address = new URL(upstream)
  address.hostname = hostname
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

test('verify-full and verify-ca refuse a server whose authority is unknown, before anything is sent', async () => {
  for (const parameters of [
    'verify-full',
    `verify-full&sslrootcert=${otherRootFile}`,
    `verify-ca&sslrootcert=${otherRootFile}`,
  ]) {
    const before = sessions
    const db = openWith(`?sslmode=${parameters}`, 'localhost')
    await assert.rejects(db`select 1`, /certificate/u)
    await db.end()
    assert.equal(sessions, before, parameters)
  }
})

test('verify-full checks the name, verify-ca only the authority', async () => {
  const one = async (parameters: string, hostname: string) => {
    const db = openWith(`?sslrootcert=${rootFile}&sslmode=${parameters}`, hostname)
    try {
      return (await db`select 1`).length
    } finally {
      await db.end()
    }
  }
  assert.equal(await one('verify-full', 'localhost'), 1)
  assert.equal(await one('verify-ca', '127.0.0.1'), 1)
  await assert.rejects(one('verify-full', '127.0.0.1'), { code: 'ERR_TLS_CERT_ALTNAME_INVALID' })
})

test('sslcert and sslkey present a client certificate', async () => {
  const client = await authority.client('exchange')
  requestCert = true
  clientNames = []
  const files = `sslcert=${file('client.pem', client.certificate)}&sslkey=${file('client.key', client.key)}`
  const db = openWith(`?sslmode=verify-full&sslrootcert=${rootFile}&${files}`, 'localhost')
  assert.equal((await db`select 1`).length, 1)
  await db.end()
  assert.deepEqual(clientNames, ['exchange'])
  const anonymous = openWith(`?sslmode=verify-full&sslrootcert=${rootFile}`, 'localhost')
  await assert.rejects(async () => anonymous`select 1`)
  await anonymous.end()
  requestCert = false
})

test('an address that cannot be used is refused with a sentence that does not repeat it', () => {
  const password = upstream.password || 'secret'
  for (const parameters of ['?sslmode=verify-ca', '?sslmode=verify-full&sslrootcert=/nowhere/root.pem'])
    assert.throws(() => openWith(parameters), DatabaseFailure, parameters)
  for (const target of ['mysql://a:secret@b/c', 'postgres://a:secret@b:port/c', ''])
    assert.throws(
      () => openDatabase({ target, maximumConnections: 1, applicationName: 'test' }),
      (error) => error instanceof DatabaseFailure && !error.message.includes(password),
      target,
    )
})

test('several hosts may stand in the address, each with its port', async () => {
  const { username, password, pathname, hostname, port } = upstream
  const target = `postgresql://${username}:${password}@127.0.0.1:1,${hostname}:${port}${pathname}`
  const db = openDatabase({ target, maximumConnections: 2, applicationName: 'test' })
  assert.equal((await db`select 1`).length, 1)
  assert.equal(db.database, pathname.slice(1))
  await db.end()
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
  for (const code of ['25006', '25P03', '40001', '40P01', '55P03', '57014', '57P01', '57P02', '58030'])
    assert.equal(isUnavailable(Object.assign(new Error('in a moment'), { code })), true, code)
  for (const code of ['23505', '25P02', '42P01', 'EINVAL'])
    assert.equal(isUnavailable(Object.assign(new Error('wrong'), { code })), false, code)
})
