import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createTcpServer, type AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { startReceiver, testAuthority } from '@agent-exchange/testkit'
import { ConnectionFailure } from './connection-failure.ts'
import { guardedConnect, type ConnectorSettings } from './guarded-connector.ts'
import { createSender } from './sender.ts'

const receiver = await startReceiver()
after(() => receiver[Symbol.asyncDispose]())
const { port, authority } = receiver
const trusting: ConnectorSettings = { ca: authority.certificate, allowPrivate: true }
const guarded: ConnectorSettings = { ca: authority.certificate, allowPrivate: false }

async function failureOf(
  settings: ConnectorSettings,
  hostname: string,
  at = port,
): Promise<ConnectionFailure> {
  try {
    const socket = await guardedConnect(settings)({ hostname, port: at })
    socket.destroy()
  } catch (error) {
    assert.ok(error instanceof ConnectionFailure, String(error))
    return error
  }
  return assert.fail(`${hostname} was reached`)
}

const outgoing = (url: string) => ({
  url,
  organizationId: 'org_a',
  headers: { 'content-type': 'application/json' },
  body: Buffer.from('{}'),
})

test('[EVT-06] a literal IP address is checked in every notation that the URL parser accepts', async () => {
  const sender = createSender(guarded)
  const before = receiver.connections()
  for (const host of [
    '127.0.0.1',
    '2130706433',
    '0x7f000001',
    '0177.0.0.1',
    '127.1',
    '127.0.0.1.',
    '[::1]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[64:ff9b::7f00:1]',
    '[2002:7f00:1::1]',
    '169.254.169.254',
    '[fe80::1]',
    '0',
    'localhost',
    '１２７.0.0.1',
  ]) {
    const sent = await sender.send(outgoing(`https://${host}:${port}/`))
    assert.deepEqual(sent.result, { kind: 'error', errorClass: 'blocked_address' }, host)
  }
  assert.equal(receiver.connections(), before)
  await sender.close()
})

test('[EVT-06] DNS rebinding to a private address fails: a name is resolved once per connection and pinned', async () => {
  let asked = 0
  const rebinding = async () => (asked++ === 0 ? ['192.0.2.1', '10.0.0.7'] : ['127.0.0.1'])
  const failure = await failureOf({ ...guarded, resolve: rebinding }, 'rebind.example')
  assert.deepEqual([failure.errorClass, asked], ['blocked_address', 1])
  // Resolved and checked again for the next connection.
  const second = await failureOf({ ...guarded, resolve: rebinding }, 'rebind.example')
  assert.deepEqual([second.errorClass, second.address], ['blocked_address', '127.0.0.1'])
})

test('[EVT-06] the certificate must match the name, whatever address it resolves to', async () => {
  const toLoopback = async () => ['127.0.0.1']
  const reached = await guardedConnect({ ...trusting, resolve: toLoopback })({ hostname: 'localhost', port })
  assert.equal(reached.authorized, true)
  assert.equal(reached.remoteAddress, '127.0.0.1')
  reached.destroy()
  const other = await failureOf({ ...trusting, resolve: toLoopback }, 'other.example')
  assert.equal(other.errorClass, 'tls')
})

test('[EVT-06] an untrusted certificate is refused; additional authorities do not replace the default ones', async () => {
  assert.equal((await failureOf({ ca: undefined, allowPrivate: true }, '127.0.0.1')).errorClass, 'tls')
  const stranger = await testAuthority('Stranger')
  const failure = await failureOf({ ca: stranger.certificate, allowPrivate: true }, '127.0.0.1')
  assert.equal(failure.errorClass, 'tls')
})

test('[EVT-06] a receiver of a removed authority is refused, although its session could be resumed', async () => {
  let ca: string | undefined = authority.certificate
  const connectTo = guardedConnect({ ca: () => ca, allowPrivate: true })
  const trusted = await connectTo({ hostname: '127.0.0.1', port })
  // TLS 1.3 sends the session after the handshake.
  if (trusted.getSession() === undefined) await once(trusted, 'session')
  trusted.destroy()
  ca = (await testAuthority('Stranger')).certificate
  await assert.rejects(connectTo({ hostname: '127.0.0.1', port }), { errorClass: 'tls' })
  ca = authority.certificate
  ;(await connectTo({ hostname: '127.0.0.1', port })).destroy()
})

test('[EVT-08] failures before and during the handshake have different error classes', async () => {
  const silent = createTcpServer((socket) =>
    socket
      .resume()
      .end('SSH-2.0-nobody\r\n')
      .on('error', () => undefined),
  )
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const { port: silentPort } = silent.address() as AddressInfo
  assert.equal((await failureOf(trusting, '127.0.0.1', silentPort)).errorClass, 'tls')
  await new Promise((resolve) => silent.close(resolve))
  assert.equal((await failureOf(trusting, '127.0.0.1', silentPort)).errorClass, 'refused')
  const nobody = async () => {
    throw Object.assign(new Error('getaddrinfo ENOTFOUND'), { code: 'ENOTFOUND' })
  }
  assert.equal((await failureOf({ ...trusting, resolve: nobody }, 'nobody.example')).errorClass, 'dns')
  assert.equal((await failureOf({ ...trusting, resolve: async () => [] }, 'empty.example')).errorClass, 'dns')
})

test('the next address of a name is tried when the first does not respond', async () => {
  const resolve = async () => ['127.0.0.2', '127.0.0.1']
  const socket = await guardedConnect({ ...trusting, resolve })({ hostname: 'localhost', port })
  assert.equal(socket.remoteAddress, '127.0.0.1')
  socket.destroy()
})

test('a second connection to the same name and address resumes the TLS session', async () => {
  const open = guardedConnect({ ...trusting, resolve: async () => ['127.0.0.1'] })
  const first = await open({ hostname: 'localhost', port })
  await once(first, 'session')
  const [second, other] = [
    await open({ hostname: 'localhost', port }),
    await open({ hostname: '127.0.0.1', port }),
  ]
  assert.deepEqual(
    [first, second, other].map((socket) => socket.isSessionReused()),
    [false, true, false],
  )
  for (const socket of [first, second, other]) socket.destroy()
})
