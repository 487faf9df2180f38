import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { deliveryWorld } from '@agent-exchange/testkit'
import type { Overview } from './read-overview.ts'

const made = await deliveryWorld()
after(() => made[Symbol.asyncDispose]())
const { world, receiver } = made
const endpointId = await made.endpoint()

const overview = async () => (await world.operate('GET', '/overview')).body as unknown as Overview
const issues = async () => (await overview()).issues.map(({ text }) => text)
const alertKinds = async () => {
  const { body } = await world.operate('GET', `/alerts?webhook_endpoint_id=${endpointId}`)
  return (body['items'] as { kind: string; reason: string }[]).map(({ kind, reason }) => [kind, reason])
}
const endpoint = async () => (await world.operate('GET', `/endpoints/${endpointId}`)).body

test('[EVT-08][O-19] a refusal is an alert and colours the overview until it is replayed; it is failed, not dead', async () => {
  receiver.reply = () => 404
  await made.event()
  const [refused] = await made.until((all) => all.some(({ state }) => state === 'failed'), 'failed')
  const { status, failed_deliveries, dead_letters } = await overview()
  assert.deepEqual([status, failed_deliveries, dead_letters], ['degraded', 1, 0])
  assert.match((await issues()).join(), /1 delivery to owner failed permanently in the last 24 hours/u)
  assert.deepEqual(await alertKinds(), [['delivery_failed', 'attempt 1 failed permanently: status 404']])
  assert.equal((await endpoint())['last_error'], 'status 404')
  receiver.reply = () => 204
  const path = `/deliveries/${refused?.delivery_id}/replay`
  assert.equal((await world.operate('POST', path, { reason: 'route added' })).status, 201)
  await made.until((all) => all.some(({ state }) => state === 'delivered'), 'replayed')
  assert.equal((await overview()).failed_deliveries, 0)
  const { failing_since, last_error } = await endpoint()
  assert.deepEqual([failing_since, last_error], [null, null])
})

test('[EVT-08][O-19] an endpoint that fails is an alert and colours the overview until it answers', async () => {
  receiver.reply = () => 500
  const tried = async (count: number) => {
    await made.event()
    await made.until(
      (all) => all.filter((each) => each.state === 'pending' && each.attempts.length > 0).length >= count,
      `${count} retried`,
    )
  }
  await tried(1)
  // One failure may be a hiccup.
  assert.deepEqual((await overview()).failing_endpoints, [])
  world.clock.advance(61)
  await tried(2)
  const { failing_endpoints } = await overview()
  assert.deepEqual(
    failing_endpoints.map((each) => [each.webhook_endpoint_id, each.last_error]),
    [[endpointId, 'status 500']],
  )
  assert.match((await issues()).join(), /webhook endpoint of .* has failed for \d+ seconds: status 500/u)
  assert.match(
    (await alertKinds()).join(),
    /^endpoint_failing,no delivery has succeeded since .*: status 500/u,
  )
  receiver.reply = () => 204
  await made.event()
  await made.until((all) => all.filter(({ state }) => state === 'delivered').length >= 2, 'delivered')
  assert.deepEqual((await overview()).failing_endpoints, [])
})
