import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createProfile } from '@agent-exchange/protocol'
import { organizations, sendPackage, startWorld } from '@agent-exchange/testkit'
import { inTransaction, openDatabase } from '@agent-exchange/database'
import { raiseAlert } from '../alerts/alert-store.ts'
import { removeExpired } from './retention.ts'

// Without delivery workers: states change only here.
const world = await startWorld({ config: { role: 'api' } })
const db = openDatabase({ target: world.databaseUrl, maximumConnections: 4, applicationName: 'test' })
after(async () => {
  await db.end()
  await world[Symbol.asyncDispose]()
})
const created = createProfile({ 'O-18': { delivery_days: 10, notification_days: 20 } })
assert.ok(created.ok)
const DAY = 86_400
const clean = () => removeExpired(db, created.profile, world.clock.now())
const { sql } = world
const [sender, owner] = await organizations(world, 'sender', 'owner')
const endpoint = await owner.post('/v1/webhook-endpoints', {
  url: 'https://receiver.example/',
  event_types: [],
})
const endpointId = String(endpoint.body['webhook_endpoint_id'])

async function delivery(state: string): Promise<string> {
  const { metadata } = await sendPackage(sender, owner)
  const [row] = await sql`
    update delivery set state = ${state}, attempt = 1, finished_at = ${state === 'pending' ? null : world.clock.now()}
    where package_id = ${metadata.package_id} returning delivery_id`
  const id = String(row?.['delivery_id'])
  await sql`insert into delivery_attempt values (${id}, 1, ${world.clock.now()}, ${state}, '{}')`
  return id
}

const left = async () =>
  (await sql`select delivery_id from delivery`).map((row) => String(row['delivery_id'])).toSorted()

test('[O-18] finished deliveries and their attempts are removed after their days; pending ones are kept', async () => {
  const [done, dead, waiting] = [
    await delivery('delivered'),
    await delivery('dead'),
    await delivery('pending'),
  ]
  world.clock.advance(9 * DAY)
  const fresh = await delivery('failed')
  await clean()
  assert.equal((await left()).length, 4)
  world.clock.advance(2 * DAY)
  const removed = await clean()
  assert.deepEqual([removed['deliveries'], removed['failed_deliveries']], [1, 1])
  assert.deepEqual(await left(), [waiting, fresh].toSorted())
  assert.equal((await world.operate('GET', `/deliveries/${done}`)).status, 404)
  // Nobody can read their attempts any more; they go with all attempts of their week.
  world.clock.advance(7 * DAY)
  await clean()
  const attempts = await sql`select from delivery_attempt where delivery_id in (${done}, ${dead})`
  assert.equal(attempts.length, 0)
  const kept = await sql`select from delivery_attempt where delivery_id = ${waiting}`
  assert.equal(kept.length, 1)
})

test('[O-18][EVT-12] a delivery that was replayed stays as long as its replay', async () => {
  const dead = await delivery('dead')
  world.clock.advance(5 * DAY)
  const { body } = await world.operate('POST', `/deliveries/${dead}/replay`, { reason: 'mended' })
  const replay = String(body['delivery_id'])
  world.clock.advance(6 * DAY)
  await clean()
  assert.ok((await left()).includes(dead))
  await sql`update delivery set state = 'delivered', finished_at = ${world.clock.now()} where delivery_id = ${replay}`
  world.clock.advance(11 * DAY)
  await clean()
  const kept = await left()
  assert.ok(!kept.includes(dead) && !kept.includes(replay))
  // What was done stays known.
  const [entry] =
    await sql`select details from operator_log where target = ${dead} and action = 'delivery.replay'`
  assert.match(String(entry?.['details']), new RegExp(replay))
})

test('[O-18] a delivery whose notification is gone, or whose endpoint was deleted on its way, waits for nothing', async () => {
  const orphan = await delivery('pending')
  world.clock.advance(21 * DAY)
  await clean()
  const state = async (id: string) =>
    (await sql`select state from delivery where delivery_id = ${id}`)[0]?.['state'] as string
  assert.equal(await state(orphan), 'failed')
  const underWay = await delivery('pending')
  await sql`update delivery set claim_id = 1 where delivery_id = ${underWay}`
  await world.operate('POST', `/endpoints/${endpointId}/delete`, { reason: 'test' })
  await clean()
  assert.equal(await state(underWay), 'pending')
  await sql`update delivery set claim_id = null where delivery_id = ${underWay}`
  await clean()
  assert.equal(await state(underWay), 'failed')
})

test('[O-18] alerts go after the same days', async () => {
  const { organizationId } = owner
  const raise = (deliveryId: string) =>
    inTransaction(db, (tx) =>
      raiseAlert(tx, {
        endpointId,
        organizationId,
        deliveryId,
        kind: 'delivery_dead',
        reason: 'r',
        now: world.clock.now(),
      }),
    )
  await raise('dlv_old')
  world.clock.advance(9 * DAY)
  await raise('dlv_young')
  world.clock.advance(2 * DAY)
  assert.equal((await clean())['alerts'], 1)
  const rows = await sql`select delivery_id from alert`
  assert.deepEqual(
    rows.map((row) => row['delivery_id']),
    ['dlv_young'],
  )
})
