import assert from 'node:assert/strict'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { fastify } from 'fastify'
import { directoryOf, envelope, handlerFor, signedDelivery, testKey } from '../receive/delivery.fixture.ts'
import { fastifyWebhook } from './fastify-handler.ts'

const key = await testKey('key_n1')
const { handler, inbox } = handlerFor(directoryOf([key]), { limits: { maximumBytes: 2_000 } })

// An application with its own parsers and routes, as any has.
const app = fastify()
app.post('/orders', (request, reply) => reply.send({ got: request.body }))
await app.register(fastifyWebhook(handler, { path: '/hooks/exchange' }), { prefix: '/agent' })
await app.listen({ host: '127.0.0.1', port: 0 })
after(() => app.close())
const base = `http://127.0.0.1:${(app.server.address() as AddressInfo).port}`
const url = `${base}/agent/hooks/exchange`

test('[EVT-14] a signed delivery goes through Fastify byte for byte', async () => {
  // White space that a parser would drop is part of what was signed.
  const text = JSON.stringify(envelope(1), null, 3)
  const { headers, body } = await signedDelivery(key, text, { url, eventId: 'evt_1' })
  const response = await fetch(url, { method: 'POST', headers, body })
  assert.equal(response.status, 204)
  assert.equal((await inbox.position()).pending, 1)
  const altered = await fetch(url, {
    method: 'POST',
    headers,
    body: text.replace('"sequence": 1', '"sequence": 2'),
  })
  assert.deepEqual([altered.status, altered.headers.get('content-type')], [400, 'application/problem+json'])
})

test('what is no delivery is answered by the handler, and the application keeps its own parsers', async () => {
  assert.equal((await fetch(url)).status, 405)
  assert.equal((await fetch(url, { method: 'POST', body: 'text' })).status, 415)
  const headers = { 'content-type': 'application/json' }
  assert.equal((await fetch(url, { method: 'POST', headers, body: `"${'x'.repeat(3_000)}"` })).status, 413)
  assert.equal((await fetch(url, { method: 'POST', headers, body: '{}' })).status, 401)
  const order = await fetch(`${base}/orders`, { method: 'POST', headers, body: '{"a":1}' })
  assert.deepEqual(await order.json(), { got: { a: 1 } })
})
