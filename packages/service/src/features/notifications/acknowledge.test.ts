import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { acknowledgement, validatorOf, type NotificationEnvelope } from '@agent-exchange/protocol'
import { assertProblem, sendPackage, startWorld } from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const [seats, cars] = await Promise.all([world.organization('seats'), world.organization('cars')])

async function notification() {
  const { metadata } = await sendPackage(seats, cars)
  const { body } = await cars.get('/v1/notifications?limit=1000')
  const items = body['items'] as NotificationEnvelope[]
  const found = items.find(({ package_id }) => package_id === metadata.package_id)
  assert.ok(found)
  return {
    path: `/v1/notifications/${found.notification_id}/ack`,
    notification: found,
    body: {
      event_id: found.event_id,
      disposition: 'stored',
      stored_at: world.clock.now(),
      last_contiguous_sequence: found.sequence,
    },
  }
}

test('[EVT-11] an acknowledgement names its notification; an exact retry returns the original', async () => {
  const { path, body, notification: announced } = await notification()
  const first = await cars.post(path, body, { idempotencyKey: 'a' })
  assert.equal(first.status, 200, first.text)
  assert.deepEqual(validatorOf(acknowledgement)(first.body), [])
  assert.deepEqual(
    [
      first.body['notification_id'],
      first.body['event_id'],
      first.body['disposition'],
      first.body['last_contiguous_sequence'],
    ],
    [announced.notification_id, announced.event_id, 'stored', announced.sequence],
  )
  world.clock.advance(5)
  assert.equal((await cars.post(path, body, { idempotencyKey: 'a' })).text, first.text)
  assertProblem(
    await cars.post(path, { ...body, last_contiguous_sequence: 99 }, { idempotencyKey: 'a' }),
    'idempotency_key_reuse',
  )
})

test('[EVT-11][O-11] the first acknowledgement wins: a later one with another key returns it', async () => {
  const { path, body } = await notification()
  const first = await cars.post(path, body)
  world.clock.advance(5)
  const second = await cars.post(path, { ...body, disposition: 'discarded', last_contiguous_sequence: 0 })
  assert.deepEqual([second.status, second.text], [200, first.text])
  const rows = await world.sql`select body from notification_acknowledgement where body = ${first.text}`
  assert.equal(rows.length, 1)
})

test('[EVT-11] an acknowledgement changes neither the stream nor the package', async () => {
  const { path, body, notification: announced } = await notification()
  const before = await cars.get(`/v1/packages/${announced.package_id}`)
  await cars.post(path, body)
  assert.equal((await cars.get(`/v1/packages/${announced.package_id}`)).text, before.text)
  const { body: page } = await cars.get('/v1/notifications?limit=1000')
  assert.ok(
    (page['items'] as NotificationEnvelope[]).some(
      ({ notification_id }) => notification_id === announced.notification_id,
    ),
  )
})

test('[EVT-11][AUTH-03] a notification of another organization gets the same problem as an unknown one', async () => {
  const { path, body } = await notification()
  const foreign = await seats.post(path, body, { correlationId: 'c' })
  const unknown = await seats.post('/v1/notifications/ntf_unknown/ack', body, { correlationId: 'c' })
  assertProblem(foreign, 'resource_not_found')
  assert.equal(foreign.text, unknown.text)
})

test('[EVT-11] another event id is a mismatch, and malformed values are refused', async () => {
  const { path, body } = await notification()
  assertProblem(await cars.post(path, { ...body, event_id: 'evt_other' }), 'acknowledgement_mismatch')
  const wrong = [
    { last_contiguous_sequence: -1 },
    { last_contiguous_sequence: 1.5 },
    { last_contiguous_sequence: '1' },
    { stored_at: '2026-01-01T00:00:00+02:00' },
    { stored_at: 'yesterday' },
    { disposition: '' },
    { disposition: 7 },
    { event_id: '' },
  ]
  for (const change of wrong) {
    assertProblem(
      await cars.post(path, { ...body, ...change }),
      'validation_failed',
      undefined,
      JSON.stringify(change),
    )
  }
  assert.equal((await cars.post(path, body)).status, 200)
})
