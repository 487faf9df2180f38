import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { organizations, sendPackage, startWorld } from '@agent-exchange/testkit'
import { openDatabase } from '@agent-exchange/database'
import { DELIVERY_CHANNEL, MAXIMUM_NAMED_ENDPOINTS } from '../../webhooks/queue/delivery-channel.ts'

const world = await startWorld()
const listener = openDatabase({ target: world.databaseUrl, maximumConnections: 2, applicationName: 'test' })
after(async () => {
  await listener.end()
  await world[Symbol.asyncDispose]()
})
const heard: string[] = []
await listener.listen(
  DELIVERY_CHANNEL,
  (payload) => void heard.push(payload),
  () => undefined,
)

/** The notifications up to the last package; the server delivers them in commit order. */
async function callsSoFar(): Promise<string[]> {
  await world.sql`select pg_notify(${DELIVERY_CHANNEL}, 'last')`
  while (heard.at(-1) !== 'last') await new Promise(setImmediate)
  return heard.splice(0).slice(0, -1)
}

test('[EVT-01] NOTIFY names the endpoints with new deliveries, or none if there are too many', async () => {
  const [seats, cars] = await organizations(world, 'seats', 'cars')
  await sendPackage(seats, cars)
  assert.deepEqual(await callsSoFar(), [], 'nobody listens')

  const body = { url: 'https://receiver.example/hook', event_types: [] }
  const endpoint = await cars.post('/v1/webhook-endpoints', body)
  const id = String(endpoint.body['webhook_endpoint_id'])
  await sendPackage(seats, cars)
  assert.deepEqual(await callsSoFar(), [id])

  // More than one organization may register; a batch of several organizations can reach this number.
  await world.sql`
    insert into webhook_endpoint
    select (json_populate_record(webhook_endpoint, json_build_object('webhook_endpoint_id', ${id}::text || number))).*
    from webhook_endpoint, generate_series(1, ${MAXIMUM_NAMED_ENDPOINTS}) as number`
  await sendPackage(seats, cars)
  assert.deepEqual(await callsSoFar(), [''])
  const [made] = await world.sql`select count(*)::int from delivery`
  assert.equal(made?.['count'], 1 + 1 + MAXIMUM_NAMED_ENDPOINTS)
})
