import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, createServer, type AddressInfo, type Socket } from 'node:net'
import { after, test } from 'node:test'
import { testDatabase, until } from '@agent-exchange/testkit'
import { openDatabase } from './database.ts'

const database = await testDatabase()
const server = new URL(database.url)

/** Between driver and server: it knows what was sent, and can keep the answers to itself. */
const answering = new Set<Socket>()
let sent = ''
const relay = createServer((client) => {
  const upstream = connect(Number(server.port), server.hostname)
  answering.add(upstream)
  client.on('data', (bytes) => {
    sent = (sent + bytes.toString('latin1')).slice(-1_000)
    upstream.write(bytes)
  })
  upstream.on('data', (bytes) => client.write(bytes))
  client.on('close', () => upstream.destroy())
  upstream.on('close', () => client.destroy())
})
relay.listen(0, '127.0.0.1')
await once(relay, 'listening')
const address = new URL(server)
address.host = `127.0.0.1:${(relay.address() as AddressInfo).port}`
const db = openDatabase({ target: address.href, maximumConnections: 2, applicationName: 'test' })
after(async () => {
  await db.end()
  relay.close()
  await database[Symbol.asyncDispose]()
})

/** More than the buffers of the system and of a stream take together. */
const LARGE = 'x'.repeat(16_000_000)
const LIMIT_MS = 5_000

test('what comes behind a large statement is sent before that is answered', async () => {
  const lengths = await db.begin(async (tx) => {
    const ask = (text: string) => tx<{ length: number }[]>`select length(${text}::text)`
    // The connection itself has to be waited for.
    await ask('first')
    for (const upstream of answering) upstream.pause()
    const both = [ask(LARGE), ask('behind it')]
    try {
      await until('it is sent without an answer', () => sent.includes('behind it'), { limitMs: LIMIT_MS })
    } finally {
      for (const upstream of answering) upstream.resume()
    }
    const answers = await Promise.all(both)
    return answers.map(([row]) => row?.length)
  })
  assert.deepEqual(lengths, [LARGE.length, 'behind it'.length])
})
