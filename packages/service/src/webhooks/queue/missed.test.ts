import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sendPackage, sendReceipt, startWorld, type Organization } from '@agent-exchange/testkit'

// Without delivery workers: states change only here.
const world = await startWorld({ config: { role: 'api' } })
after(() => world[Symbol.asyncDispose]())
const { sql } = world
const sender = await world.organization('sender')

async function endpointOf(owner: Organization, eventTypes: string[] = []): Promise<string> {
  const body = { url: 'https://receiver.example/hook', event_types: eventTypes }
  return String((await owner.post('/v1/webhook-endpoints', body)).body['webhook_endpoint_id'])
}

const move = (id: string, verb: string, body: object = { reason: 'test' }) =>
  world.operate('POST', `/endpoints/${id}/${verb}`, body)
const missedOf = async (id: string) => (await world.operate('GET', `/endpoints/${id}`)).body['missed']
const deliveriesTo = (id: string) => sql<
  { delivery_id: string; notification_id: string; replay_of: string | null }[]
>`
  select * from delivery where webhook_endpoint_id = ${id} order by created_at, delivery_id`
const notificationsOf = async (owner: Organization, type?: string) => {
  const rows = await sql`
    select notification_id, event_type from notification where organization_id = ${owner.organizationId} order by sequence`
  return rows
    .filter((row) => type === undefined || row['event_type'] === type)
    .map((row) => String(row['notification_id']))
}

test('[EVT-12] what an endpoint missed while it was disabled is counted when it is enabled, and replayed once', async () => {
  const owner = await world.organization('owner')
  const id = await endpointOf(owner)
  await sendPackage(sender, owner)
  await sql`update delivery set state = 'delivered', finished_at = now() where webhook_endpoint_id = ${id}`
  await move(id, 'disable')
  for (let index = 0; index < 3; index++) await sendPackage(sender, owner)
  assert.equal((await deliveriesTo(id)).length, 1)
  assert.deepEqual(await missedOf(id), { notifications: 3, deliveries: 0 })
  const refused = await move(id, 'replay-missed')
  assert.deepEqual([refused.status, refused.body['code']], [409, 'invalid_state_transition'])

  const enabled = await move(id, 'enable', {})
  assert.deepEqual(
    [enabled.body['status'], enabled.body['missed']],
    ['active', { notifications: 3, deliveries: 0 }],
  )
  await sendPackage(sender, owner)
  const steps = await Promise.all([move(id, 'replay-missed'), move(id, 'replay-missed')])
  assert.deepEqual(steps.map(({ body }) => String(body['replayed'])).toSorted(), ['0', '3'])
  assert.deepEqual(await missedOf(id), { notifications: 0, deliveries: 0 })
  const all = (await deliveriesTo(id)).map((row) => row.notification_id)
  assert.deepEqual(all.toSorted(), (await notificationsOf(owner)).toSorted())
  const log = await sql`
    select actor, reason, details from operator_log where action = 'delivery.replay' and details like ${`%${id}%`}`
  assert.equal(log.length, 3)
  assert.ok(log.every((entry) => entry['actor'] === 'admin' && entry['reason'] === 'test'))
})

test('[EVT-12][EVT-15] only what its filter wants, and deliveries that failed meanwhile; two pauses count together', async () => {
  const owner = await world.organization('filtered')
  const id = await endpointOf(owner, ['package.accepted'])
  await sendPackage(sender, owner)
  const [first] = await deliveriesTo(id)
  await move(id, 'disable')
  world.clock.advance(1)
  await sql`update delivery set state = 'failed', finished_at = ${world.clock.now()} where webhook_endpoint_id = ${id}`
  const { metadata } = await sendPackage(sender, owner)
  await sendReceipt(owner, metadata, 'received')
  await move(id, 'enable', {})
  await move(id, 'disable')
  await sendPackage(sender, owner)
  await move(id, 'enable', {})
  assert.deepEqual(await missedOf(id), { notifications: 2, deliveries: 1 })
  assert.equal((await move(id, 'replay-missed')).body['replayed'], 3)
  const made = await deliveriesTo(id)
  assert.ok(made.some(({ replay_of }) => replay_of === first?.delivery_id))
  assert.deepEqual(
    [...new Set(made.map((row) => row.notification_id))].toSorted(),
    (await notificationsOf(owner, 'package.accepted')).toSorted(),
  )
  assert.equal((await move(id, 'replay-missed')).body['replayed'], 0)
})

test('[EVT-12] nothing falls between: packages accepted while it is enabled are delivered or missed, never neither', async () => {
  const owner = await world.organization('busy')
  const id = await endpointOf(owner)
  const sending = (async () => {
    for (let round = 0; round < 10; round++) {
      await Promise.all(Array.from({ length: 4 }, () => sendPackage(sender, owner)))
    }
  })()
  for (let round = 0; round < 8; round++) {
    await move(id, 'disable')
    await new Promise((resolve) => setTimeout(resolve, 20))
    assert.equal((await move(id, 'enable', {})).status, 200)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  await sending
  while ((await move(id, 'replay-missed')).body['replayed'] !== 0);
  const got = (await deliveriesTo(id)).map((row) => row.notification_id)
  assert.equal(new Set(got).size, got.length)
  assert.deepEqual(got.toSorted(), (await notificationsOf(owner)).toSorted())
})

test('deleting an endpoint ends what waits for it and keeps its history; it cannot come back', async () => {
  const owner = await world.organization('deleted')
  const id = await endpointOf(owner)
  await sendPackage(sender, owner)
  const deleted = await move(id, 'delete')
  assert.deepEqual([deleted.body['status'], deleted.body['ended_deliveries']], ['deleted', 1])
  const [delivery] = await deliveriesTo(id)
  const shown = await world.operate('GET', `/deliveries/${delivery?.delivery_id}`)
  assert.equal(shown.body['state'], 'failed')
  assert.deepEqual(shown.body['endpoint'], {
    url: 'https://receiver.example/hook',
    status: 'deleted',
    status_reason: 'operator: test',
  })
  assert.equal((await move(id, 'enable')).status, 409)
  assert.deepEqual(await missedOf(id), { notifications: 0, deliveries: 0 })
  const [entry] =
    await sql`select actor, reason from operator_log where action = 'endpoint.delete' and target = ${id}`
  assert.deepEqual({ ...entry }, { actor: 'admin', reason: 'test' })
})

test('[O-19] the owner is alerted of an endpoint that an operator disabled', async () => {
  const owner = await world.organization('told')
  const id = await endpointOf(owner)
  await move(id, 'disable', { reason: 'floods us' })
  const { body } = await world.operate('GET', `/alerts?organization_id=${owner.organizationId}`)
  const [alert] = body['items'] as Record<string, unknown>[]
  assert.deepEqual(
    [alert?.['kind'], alert?.['webhook_endpoint_id'], alert?.['reason']],
    ['endpoint_disabled', id, 'operator: floods us'],
  )
})
