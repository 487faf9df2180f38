import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdirSync, mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { connect, type TLSSocket } from 'node:tls'
import { testAuthority } from '@agent-exchange/testkit'
import { readTlsFiles } from './settings/index.ts'
import { certificateReload } from './certificate-reload.ts'

type Written = Readonly<Record<'tls.crt' | 'tls.key' | 'ca.crt', string>>

/** A mounted secret as Kubernetes updates it: files are links into a folder that a link is switched to. */
function mountedSecret() {
  const folder = mkdtempSync(join(tmpdir(), 'aex-secret-'))
  let version = 0
  return {
    files: {
      certificate: join(folder, 'tls.crt'),
      key: join(folder, 'tls.key'),
      clientCa: join(folder, 'ca.crt'),
    },
    write(files: Written): void {
      const data = join(folder, `..${++version}`)
      mkdirSync(data)
      for (const [name, text] of Object.entries(files)) writeFileSync(join(data, name), text)
      symlinkSync(`..${version}`, join(folder, '..next'))
      renameSync(join(folder, '..next'), join(folder, '..data'))
      if (version > 1) return
      for (const name of Object.keys(files)) symlinkSync(join('..data', name), join(folder, name))
    },
    [Symbol.dispose]: () => rmSync(folder, { recursive: true }),
  }
}

async function startListener() {
  const secret = mountedSecret()
  const [authority, clients] = await Promise.all([testAuthority(), testAuthority('clients')])
  const first = await authority.server()
  secret.write({ 'tls.crt': first.certificate, 'tls.key': first.key, 'ca.crt': clients.certificate })
  const tls = { ...readTlsFiles(secret.files), files: secret.files }
  const server = createServer(
    { cert: tls.certificate, key: tls.key, ca: tls.clientCa, requestCert: true, rejectUnauthorized: false },
    (_request, response) => response.end('answered'),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const clientSockets: TLSSocket[] = []
  const logged: { level: string; fields: object }[] = []
  const log = {
    info: (fields: object) => void logged.push({ level: 'info', fields }),
    error: (fields: object) => void logged.push({ level: 'error', fields }),
  }
  const reload = certificateReload({ tls, listeners: [{ server, verifiesClients: true }], log })
  const open = async (identity?: { certificate: string; key: string }): Promise<TLSSocket> => {
    const { port } = server.address() as AddressInfo
    const client = identity && { cert: identity.certificate, key: identity.key }
    const socket = connect({ host: '127.0.0.1', port, ca: authority.certificate, ...client })
    clientSockets.push(socket)
    await once(socket, 'secureConnect')
    return socket
  }
  return {
    secret,
    authority,
    clients,
    first,
    reload,
    logged,
    open,
    server,
    async [Symbol.asyncDispose]() {
      for (const socket of clientSockets) socket.destroy()
      server.closeAllConnections()
      server.close()
      secret[Symbol.dispose]()
    },
  }
}

const serialOf = (socket: TLSSocket) => socket.getPeerCertificate().serialNumber
const run = (task: { run: (signal: AbortSignal) => Promise<unknown> }) =>
  task.run(new AbortController().signal)

async function answerOn(socket: TLSSocket): Promise<string> {
  socket.write('GET / HTTP/1.1\r\nhost: localhost\r\n\r\n')
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  return bytes.toString()
}

test('a changed certificate is used for new connections, and open ones go on', async () => {
  await using world = await startListener()
  const before = await world.open()
  const second = await world.authority.server()
  world.secret.write({
    'tls.crt': second.certificate,
    'tls.key': second.key,
    'ca.crt': world.clients.certificate,
  })
  await run(world.reload)
  const after = await world.open()
  assert.notEqual(serialOf(after), serialOf(before))
  assert.match(await answerOn(before), /200 OK/u)
  assert.match(await answerOn(after), /200 OK/u)
  assert.equal(world.reload.used().certificate, second.certificate)
  await run(world.reload)
  assert.deepEqual(
    world.logged.map(({ level }) => level),
    ['info'],
  )
})

test('a key that does not fit, and a damaged file, are refused once in the log; the old pair stays', async () => {
  await using world = await startListener()
  const before = serialOf(await world.open())
  const second = await world.authority.server()
  const mismatched = { 'tls.crt': second.certificate, 'tls.key': world.first.key }
  world.secret.write({ ...mismatched, 'ca.crt': world.clients.certificate })
  await run(world.reload)
  await run(world.reload)
  assert.equal(serialOf(await world.open()), before)
  world.secret.write({ 'tls.crt': second.certificate, 'tls.key': second.key, 'ca.crt': 'damaged' })
  await run(world.reload)
  assert.equal(serialOf(await world.open()), before)
  assert.deepEqual(
    world.logged.map(({ level }) => level),
    ['error', 'error'],
  )
  assert.doesNotMatch(JSON.stringify(world.logged), /PRIVATE KEY|BEGIN/u)
  const mended = { 'tls.crt': second.certificate, 'tls.key': second.key }
  world.secret.write({ ...mended, 'ca.crt': world.clients.certificate })
  await run(world.reload)
  assert.notEqual(serialOf(await world.open()), before)
})

test('[AUTH-02] a client of a removed certificate authority is no longer authorized', async () => {
  await using world = await startListener()
  const client = await world.clients.client('agent.example')
  const authorized: boolean[] = []
  world.server.on('secureConnection', (socket) => authorized.push(socket.authorized))
  await answerOn(await world.open(client))
  const other = await testAuthority('other clients')
  world.secret.write({
    'tls.crt': world.first.certificate,
    'tls.key': world.first.key,
    'ca.crt': other.certificate,
  })
  await run(world.reload)
  await answerOn(await world.open(client))
  assert.deepEqual(authorized, [true, false])
})
