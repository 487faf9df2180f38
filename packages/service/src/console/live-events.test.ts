import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get, type IncomingMessage } from 'node:http'
import { PassThrough } from 'node:stream'
import { test } from 'node:test'
import { startWorld } from '@agent-exchange/testkit'
import { consoleClient } from './console-client.fixture.ts'
import { createLiveEvents } from './live-events.ts'

test('the event stream needs a session, and an open one does not hold up the stop of the service', async () => {
  const world = await startWorld()
  const client = consoleClient(world.operatorUrl)
  assert.equal((await client.get('/events/')).status, 303)
  const { body } = await world.operate('POST', '/operators', { name: 'viewer', role: 'viewer' })
  await client.signIn(String(body['token']))
  const cookie = [...client.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const [response] = (await once(
    get(`${world.operatorUrl}/events/`, { headers: { cookie } }),
    'response',
  )) as [IncomingMessage]
  assert.equal(response.headers['content-type'], 'text/event-stream; charset=utf-8')
  assert.match(String(response.headers['content-security-policy']), /frame-ancestors 'none'/u)
  const ended = once(response.resume(), 'end')
  await world[Symbol.asyncDispose]()
  await ended
})

test('sign-out and the end of an operator end their event streams', async () => {
  await using world = await startWorld()
  const open = async (name: string) => {
    const { body } = await world.operate('POST', '/operators', { name, role: 'viewer' })
    const client = consoleClient(world.operatorUrl)
    await client.signIn(String(body['token']))
    const cookie = [...client.cookies].map(([key, value]) => `${key}=${value}`).join('; ')
    const [response] = (await once(
      get(`${world.operatorUrl}/events/`, { headers: { cookie } }),
      'response',
    )) as [IncomingMessage]
    return { client, ended: once(response.resume(), 'end') }
  }
  const [leaver, disabled, staying] = [await open('leaver'), await open('disabled'), await open('staying')]
  let hasStayed = true
  void staying.ended.then(() => (hasStayed = false))
  await leaver.client.submit('/sign-out', {})
  assert.equal((await world.operate('POST', '/operators/disabled/disable', { reason: 'left' })).status, 200)
  await Promise.all([leaver.ended, disabled.ended])
  assert.ok(hasStayed)
})

test('streams are bounded, and one that ends makes room', () => {
  const events = createLiveEvents(() => undefined)
  const content = { topic: '/', read: () => Promise.resolve({}) }
  const outputs = Array.from({ length: 64 }, () => new PassThrough())
  for (const output of outputs) {
    events.requireRoom()
    events.add(output, content)
  }
  assert.throws(() => events.requireRoom(), { code: 'rate_limited' })
  outputs[0]?.emit('close')
  events.requireRoom()
  events.close()
})
