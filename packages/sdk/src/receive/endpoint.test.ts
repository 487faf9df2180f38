import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startWorld } from '@agent-exchange/testkit'
import { rememberedUrl } from './endpoint.ts'
import { MemoryInbox } from './memory-inbox.ts'
import { createReceiver } from './receiver.ts'
import { startStream } from './stream.fixture.ts'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())

test('[EVT-15] an address that is refused, or another one in between, makes no endpoint be forgotten', async () => {
  const { agent } = await startStream(world)
  const options = { inbox: new MemoryInbox(), handle: () => undefined }
  const receiver = createReceiver(agent, options)
  const [here, there] = ['https://agent.example/here', 'https://agent.example/there']
  const first = await receiver.ensureEndpoint(here)
  await assert.rejects(receiver.ensureEndpoint('http://agent.example/clear'), { code: 'exchange_refused' })
  // The address of deliveries is still the one that was registered, also for a receiver that was restarted.
  assert.equal(await rememberedUrl(options.inbox), here)
  await receiver.ensureEndpoint(there)
  assert.equal(await rememberedUrl(options.inbox), there)
  assert.deepEqual(await createReceiver(agent, options).ensureEndpoint(here), first)
  assert.equal(await rememberedUrl(options.inbox), here)
  const rows = await world.sql`
    select url from webhook_endpoint where organization_id = ${agent.identity.organizationId} order by url`
  assert.deepEqual(
    rows.map(({ url }) => String(url)),
    [here, there],
  )
})

test('an endpoint that the first release remembered is known', async () => {
  const { agent } = await startStream(world)
  const options = { inbox: new MemoryInbox(), handle: () => undefined }
  const receiver = createReceiver(agent, options)
  const url = 'https://agent.example/hooks'
  const endpoint = await receiver.ensureEndpoint(url)
  const stored = { generation: 1, url, eventTypes: [], endpoint }
  await options.inbox.writeValue('webhook_endpoint', JSON.stringify(stored))
  assert.deepEqual(await createReceiver(agent, options).ensureEndpoint(url), endpoint)
  const rows = await world.sql`
    select from webhook_endpoint where organization_id = ${agent.identity.organizationId}`
  assert.equal(rows.length, 1)
})
