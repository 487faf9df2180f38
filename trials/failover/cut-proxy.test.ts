import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startCutProxy } from './cut-proxy.ts'

const SILENCE_MS = 200

async function echoServer() {
  const server = createServer((socket) => socket.on('error', () => undefined).pipe(socket))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return { port: (server.address() as AddressInfo).port, [Symbol.dispose]: () => void server.close() }
}

const nextText = async (socket: Socket) => String(((await once(socket, 'data')) as [Buffer])[0])

test('a cut connection stays open and silent, and delivers once it is mended', async () => {
  using echo = await echoServer()
  await using proxy = await startCutProxy(echo.port)
  const socket = connect(proxy.port, '127.0.0.1')
  socket.write('before')
  assert.equal(await nextText(socket), 'before')

  proxy.cut()
  const answer = nextText(socket)
  socket.write('during')
  const late = connect(proxy.port, '127.0.0.1')
  await once(late, 'connect')
  assert.equal(await Promise.race([answer, sleep(SILENCE_MS, 'silence')]), 'silence')
  assert.ok(!socket.destroyed && !late.destroyed)

  proxy.mend()
  assert.equal(await answer, 'during')
  socket.destroy()
  late.destroy()
})

test('without answers, requests still arrive', async () => {
  const received = Promise.withResolvers<string>()
  const server = createServer((socket) => {
    socket
      .on('error', () => undefined)
      .on('data', (bytes) => {
        received.resolve(String(bytes))
        socket.write('committed')
      })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  await using proxy = await startCutProxy((server.address() as AddressInfo).port)
  const socket = connect(proxy.port, '127.0.0.1')
  await once(socket, 'connect')
  const answer = nextText(socket)
  proxy.cutAnswers()
  socket.write('commit')
  assert.equal(await received.promise, 'commit')
  assert.equal(await Promise.race([answer, sleep(SILENCE_MS, 'silence')]), 'silence')
  proxy.mend()
  assert.equal(await answer, 'committed')
  socket.destroy()
  server.close()
})

test('what a client sent before it gave up still arrives after the cut', async () => {
  const received = Promise.withResolvers<string>()
  const server = createServer((socket) => {
    socket.on('error', () => undefined).on('data', (bytes) => received.resolve(String(bytes)))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  await using proxy = await startCutProxy((server.address() as AddressInfo).port)
  const socket = connect(proxy.port, '127.0.0.1')
  await once(socket, 'connect')
  proxy.cut()
  socket.end('commit')
  await sleep(SILENCE_MS)
  proxy.mend()
  assert.equal(await received.promise, 'commit')
  server.close()
})
