import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import type { RequestListener } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { startWorld, testAuthority, until } from '@agent-exchange/testkit'
import { toNodeListener } from '../node/http-handler.ts'
import { openSqliteInbox } from '../node/sqlite-inbox.ts'
import { createReceiver, type Receiver } from './receiver.ts'
import type { ReceiverReport } from './reports.ts'
import { startStream } from './stream.fixture.ts'

/** The real exchange delivers, over real TLS, into the adapter; nothing in between is ours to bend. */
const cleanup = new AsyncDisposableStack()
after(() => cleanup.disposeAsync())
const authority = await testAuthority()
const identity = await authority.server()
const LEAD_SECONDS = DEFAULT_PROFILE['O-38'].lead_seconds
const world = cleanup.use(
  await startWorld({ config: { role: 'all', webhook: { ca: authority.certificate, allowPrivate: true } } }),
)
const folder = mkdtempSync(join(tmpdir(), 'aex-delivery-'))
cleanup.defer(() => rmSync(folder, { recursive: true }))

/** A TLS server of the agent's, whose listener can be changed. */
async function serve(): Promise<{ url: string; listener: RequestListener }> {
  const place = {
    url: '',
    listener: ((_, response) => void response.writeHead(503).end()) as RequestListener,
  }
  const { certificate: cert, key } = identity
  const server = createServer({ cert, key }, (request, response) => place.listener(request, response))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  cleanup.defer(() => {
    server.closeAllConnections()
    server.close()
  })
  place.url = `https://localhost:${(server.address() as AddressInfo).port}/hooks/exchange`
  return place
}

let files = 0
async function hookedReceiver() {
  const [stream, place] = [await startStream(world, `hooked${files}`), await serve()]
  const seen: number[] = []
  const reports: ReceiverReport[] = []
  const inbox = openSqliteInbox(join(folder, `${files++}.db`))
  const receiver = createReceiver(stream.agent, {
    inbox,
    handle: ({ sequence }) => void seen.push(sequence),
    onReport: (report) => reports.push(report),
    limits: { gapPatienceMs: 50, pollRetryMs: 20 },
  })
  cleanup.use(receiver)
  cleanup.defer(() => inbox.close())
  return { ...stream, place, seen, reports, inbox, receiver }
}

const sources = async (receiver: Awaited<ReturnType<typeof hookedReceiver>>) =>
  (await receiver.inbox.list('processed', 99)).map(({ source }) => source)

test('[EVT-14][EVT-06] the exchange’s own signed webhooks arrive over TLS and are processed in order', async () => {
  const hooked = await hookedReceiver()
  const { receiver, place, seen, send, reports } = hooked
  await receiver.start()
  await receiver.ensureEndpoint(place.url)
  await until('the first poll', async () => (await receiver.status()).cursor !== undefined)
  place.listener = toNodeListener(receiver.handler)
  await send(5)
  await until('five events', () => seen.length === 5)
  assert.deepEqual(seen, [1, 2, 3, 4, 5])
  assert.deepEqual(new Set(await sources(hooked)), new Set(['webhook']))
  const rejected = reports.filter(({ kind }) => kind === 'webhook_rejected')
  assert.deepEqual(rejected, [])
  // The same events by polling are the same rows.
  await receiver.poll()
  assert.deepEqual([seen.length, (await receiver.status()).pending], [5, 0])
})

test('[EVT-14] a delivery that got lost is a gap, and is fetched', async () => {
  const hooked = await hookedReceiver()
  const { receiver, place, seen, send } = hooked
  await receiver.start()
  await receiver.ensureEndpoint(place.url)
  await until('the first poll', async () => (await receiver.status()).cursor !== undefined)
  const listener = toNodeListener(receiver.handler)
  let count = 0
  // The second of four is refused for good before it reaches the handler, as a broken proxy would do.
  place.listener = (request, response) =>
    ++count === 2 ? void response.writeHead(400).end() : listener(request, response)
  await send(4)
  await until('all four', () => seen.length === 4)
  assert.deepEqual(seen, [1, 2, 3, 4])
  assert.ok((await sources(hooked)).includes('poll'))
})

test('[EVT-13][EVT-14] through a rotation of keys every delivery verifies; a revoked key’s does not', async () => {
  const { receiver, place, seen, send, reports } = await hookedReceiver()
  await receiver.start()
  const { signing_key_id: firstKey } = await receiver.ensureEndpoint(place.url)
  const deliveries: { keyId: string; headers: Headers; body: ArrayBuffer }[] = []
  place.listener = toNodeListener(async (request) => {
    const body = await request.clone().arrayBuffer()
    const keyId = /keyid="([^"]+)"/.exec(request.headers.get('signature-input') ?? '')?.[1] ?? ''
    deliveries.push({ keyId, headers: request.headers, body })
    return receiver.handler(request)
  })
  const keyIds = (from = 0) => new Set(deliveries.slice(from).map(({ keyId }) => keyId))
  await send(1)
  await until('one event', () => seen.length === 1)
  const rotated = await world.operate('POST', '/keys/rotate', { reason: 'yearly' })
  const nextKey = String(rotated.body['key_id'])
  await send(1)
  await until('two events', () => seen.length === 2)
  // The successor signs once the lead time is over. A second endpoint gets it; the first keeps the old key.
  world.clock.advance(LEAD_SECONDS + 60)
  const second = await receiver.ensureEndpoint(place.url, { again: true })
  assert.equal(second.signing_key_id, nextKey)
  const sofar = deliveries.length
  await send(1)
  await until('a delivery by each key', () => keyIds(sofar).size === 2)
  assert.deepEqual(keyIds(), new Set([firstKey, nextKey]))
  await until('three events', () => seen.length === 3)

  // In an emergency the key in standby signs at once: it is pinned already.
  const revoked = await world.operate('POST', `/keys/${nextKey}/revoke`, { reason: 'seen in a log' })
  const emergency = String(revoked.body['replacement_key_id'])
  await send(1)
  await until('a delivery by it', () => keyIds().has(emergency))
  await until('four events', () => seen.length === 4)
  assert.deepEqual(seen, [1, 2, 3, 4])
  const rejected = () => reports.flatMap((report) => (report.kind === 'webhook_rejected' ? [report] : []))
  assert.deepEqual(rejected(), [])

  // What the revoked key has signed is good to the last bit, and is refused all the same.
  await receiver.keys.refresh()
  const stolen = deliveries.find(({ keyId }) => keyId === nextKey)
  const response = await receiver.handler(new Request(place.url, { method: 'POST', ...stolen }))
  assert.equal(response.status, 401)
  assert.equal(rejected()[0]?.error.details['code'], 'webhook_key_revoked')
})

test('[EVT-12] an operator’s replay of what is already processed has no second effect', async () => {
  const { agent, receiver, place, seen, send } = await hookedReceiver()
  await receiver.start()
  await receiver.ensureEndpoint(place.url)
  const answers: number[] = []
  // The event is stored, but the answer that reaches the exchange is another's: a delivery that failed for good.
  let isSpoiled = true
  const handler = async (request: Request) => {
    const response = await receiver.handler(request)
    answers.push(response.status)
    return isSpoiled ? new Response(null, { status: 400 }) : response
  }
  place.listener = toNodeListener(handler)
  await send(1)
  const failed = async () => {
    const rows = await world.sql<{ delivery_id: string }[]>`
      select delivery_id from delivery where state = 'failed' and organization_id = ${agent.identity.organizationId}`
    return rows[0]?.delivery_id
  }
  await until('a failed delivery', failed)
  await until('its effect', () => seen.length === 1)
  isSpoiled = false
  const replayed = await world.operate('POST', `/deliveries/${await failed()}/replay`, {
    reason: 'asked for',
  })
  assert.ok(replayed.status < 300, JSON.stringify(replayed.body))
  await until('a second answer', () => answers.length === 2)
  assert.deepEqual([answers, seen], [[204, 204], [1]])
})

/** Restarting means: a new receiver on the same file, which knows nothing else. */
test('[EVT-14] after a restart without the exchange a delivery still verifies, by the pinned keys', async () => {
  const { agent, receiver, place, inbox, send } = await hookedReceiver()
  await receiver.ensureEndpoint(place.url)
  let held: { headers: Headers; body: string } | undefined
  place.listener = (request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => {
      const headers = new Headers(request.headers as Record<string, string>)
      held ??= { headers, body: Buffer.concat(chunks).toString() }
      response.writeHead(204).end()
    })
  }
  await send(1)
  await until('a delivery', () => held !== undefined)
  const cutOff = {
    ...agent,
    connection: { ...agent.connection, call: () => Promise.reject(new Error('unreachable')) },
  }
  const restarted: Receiver = createReceiver(cutOff, { inbox, handle: () => undefined })
  const response = await restarted.handler(
    new Request('http://127.0.0.1:9/behind-a-proxy', { method: 'POST', ...held }),
  )
  assert.equal(response.status, 204)
  assert.equal((await inbox.list('pending', 9))[0]?.source, 'webhook')
})
