import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { brokenLinks, sendPackage, startWorld, type Organization } from '@agent-exchange/testkit'

// Without delivery workers: states change only here.
const world = await startWorld({ config: { role: 'api' } })
after(() => world[Symbol.asyncDispose]())
const { sql } = world
const sender = await world.organization('sender')

interface Row {
  readonly delivery_id: string
  readonly webhook_endpoint_id: string
  readonly notification_id: string
  readonly event_id: string
  readonly package_id: string
  readonly state: string
}

async function endpointOf(owner: Organization, eventTypes: string[] = []): Promise<string> {
  const url = 'https://receiver.example/hook'
  const { status, body, text } = await owner.post('/v1/webhook-endpoints', { url, event_types: eventTypes })
  assert.equal(status, 201, text)
  return String(body['webhook_endpoint_id'])
}

/** An endpoint with so many deliveries in this state. */
async function receiver(name: string, count: number, state = 'dead') {
  const owner = await world.organization(name)
  const endpointId = await endpointOf(owner)
  for (let index = 0; index < count; index++) await sendPackage(sender, owner)
  await sql`
    update delivery set state = ${state}, attempt = 7, finished_at = ${world.clock.now()}
    where webhook_endpoint_id = ${endpointId}`
  return { owner, endpointId, deliveries: await deliveriesTo(endpointId) }
}

const deliveriesTo = (endpointId: string) => sql<Row[]>`
  select * from delivery where webhook_endpoint_id = ${endpointId} order by created_at, delivery_id`
const replay = (id: string, reason = 'receiver mended') =>
  world.operate('POST', `/deliveries/${id}/replay`, { reason })
const detailsOf = ({ body }: { body: Record<string, unknown> }) => body['details'] as Record<string, unknown>
const finish = (id: unknown, state: string) =>
  sql`update delivery set state = ${state}, finished_at = ${world.clock.now()} where delivery_id = ${String(id)}`

test('[EVT-12][EVT-03] a replay has a new delivery id, the same event, notification and bytes; both sides show the link', async () => {
  const { endpointId, deliveries } = await receiver('one', 1)
  const [dead] = deliveries
  assert.ok(dead)
  const notification = await sql`select * from notification where notification_id = ${dead.notification_id}`
  const { status, body } = await replay(dead.delivery_id, 'fixed the proxy')
  assert.equal(status, 201, JSON.stringify(body))
  assert.notEqual(body['delivery_id'], dead.delivery_id)
  assert.deepEqual(
    [body['event_id'], body['notification_id'], body['webhook_endpoint_id'], body['state'], body['attempt']],
    [dead.event_id, dead.notification_id, endpointId, 'pending', 0],
  )
  assert.deepEqual(
    [body['replay_of'], body['replay_actor'], body['replay_reason']],
    [dead.delivery_id, 'admin', 'fixed the proxy'],
  )
  const original = await world.operate('GET', `/deliveries/${dead.delivery_id}`)
  const [linked] = original.body['replays'] as Record<string, unknown>[]
  assert.deepEqual(
    [original.body['state'], linked?.['delivery_id'], linked?.['replay_actor'], linked?.['replay_reason']],
    ['dead', body['delivery_id'], 'admin', 'fixed the proxy'],
  )
  const made = await world.operate('GET', `/deliveries/${String(body['delivery_id'])}`)
  assert.equal(made.body['replay_of'], dead.delivery_id)
  assert.deepEqual(
    await sql`select * from notification where notification_id = ${dead.notification_id}`,
    notification,
  )
  const log = await world.operate('GET', `/log?target=${dead.delivery_id}`)
  const [entry, ...others] = log.body['items'] as Record<string, unknown>[]
  assert.equal(others.length, 0)
  assert.deepEqual(
    [
      entry?.['actor'],
      entry?.['action'],
      entry?.['reason'],
      Reflect.get(Object(entry?.['details']), 'delivery_id'),
    ],
    ['admin', 'delivery.replay', 'fixed the proxy', body['delivery_id']],
  )
})

test('[EVT-12] what is under way or has arrived is not replayed, nor what is replayed already; failing again allows it', async () => {
  const { deliveries } = await receiver('states', 1)
  const id = deliveries[0]?.delivery_id ?? ''
  for (const state of ['pending', 'delivered']) {
    await finish(id, state)
    const refused = await replay(id)
    assert.deepEqual([refused.status, refused.body['code']], [409, 'invalid_state_transition'])
    assert.equal(detailsOf(refused)['state'], state)
    assert.ok(String(detailsOf(refused)['hint']).length > 20)
  }
  await finish(id, 'failed')
  const first = await replay(id)
  assert.equal(first.status, 201)
  const again = await replay(id)
  assert.deepEqual([again.status, detailsOf(again)['delivery_id']], [409, first.body['delivery_id']])
  await finish(first.body['delivery_id'], 'dead')
  const second = await replay(id)
  assert.equal(second.status, 201)
  await finish(second.body['delivery_id'], 'delivered')
  // The sibling has arrived: neither the first nor its replay needs another.
  assert.equal((await replay(id)).status, 409)
  assert.equal((await replay(String(first.body['delivery_id']))).status, 409)
  assert.equal((await replay('dlv_none')).status, 404)
  for (const body of [{}, { reason: '' }]) {
    assert.equal((await world.operate('POST', `/deliveries/${id}/replay`, body)).status, 422)
  }
})

test('[EVT-12] of replays at once one is made', async () => {
  const { endpointId, deliveries } = await receiver('race', 1)
  const id = deliveries[0]?.delivery_id ?? ''
  const answers = await Promise.all(Array.from({ length: 6 }, () => replay(id)))
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [201, 409, 409, 409, 409, 409],
  )
  assert.equal((await deliveriesTo(endpointId)).length, 2)
})

test('[EVT-12] a disabled endpoint and a notification that is gone are refused, with what to do', async () => {
  const { endpointId, deliveries } = await receiver('off', 1)
  const id = deliveries[0]?.delivery_id ?? ''
  await world.operate('POST', `/endpoints/${endpointId}/disable`, { reason: 'too slow' })
  const disabled = await replay(id)
  assert.deepEqual([disabled.status, detailsOf(disabled)['state']], [409, 'endpoint_disabled'])
  assert.match(String(detailsOf(disabled)['hint']), new RegExp(`aex endpoint enable ${endpointId} --replay`))
  await world.operate('POST', `/endpoints/${endpointId}/enable`, {})
  await sql.begin(async (tx) => {
    await tx`select set_config('aex.retention', 'on', true)`
    await tx`delete from notification where notification_id = ${deliveries[0]?.notification_id ?? ''}`
  })
  assert.equal(detailsOf(await replay(id))['state'], 'notification_not_retained')
  await world.operate('POST', `/endpoints/${endpointId}/delete`, { reason: 'gone' })
  assert.equal(detailsOf(await replay(id))['state'], 'endpoint_deleted')
})

test('[EVT-12] in bulk: the count says what will be done, steps end, and nothing is replayed twice', async () => {
  const { owner, endpointId, deliveries } = await receiver('bulk', 5)
  const [, , third, fourth, fifth] = deliveries
  await finish(third?.delivery_id, 'failed')
  await finish(fourth?.delivery_id, 'delivered')
  const count = async (query: string) => {
    const { body } = await world.operate('GET', `/replays?${query}`)
    return (body['endpoints'] as { webhook_endpoint_id: string; count: number }[]).map((each) => each.count)
  }
  assert.deepEqual(await count(`webhook_endpoint_id=${endpointId}`), [4])
  assert.deepEqual(await count(`organization_id=${owner.organizationId}&state=dead`), [3])
  assert.deepEqual(await count(`webhook_endpoint_id=${endpointId}&state=failed`), [1])
  const cut = new Date(Date.now() + 3_600_000).toISOString()
  assert.deepEqual(await count(`webhook_endpoint_id=${endpointId}&since=${cut}`), [])
  assert.deepEqual(await count(`webhook_endpoint_id=${endpointId}&until=${cut}`), [4])
  await replay(fifth?.delivery_id ?? '')

  const step = () =>
    world.operate('POST', '/replays', {
      webhook_endpoint_id: endpointId,
      state: 'dead',
      until: cut,
      reason: 'mended',
    })
  const steps = await Promise.all([step(), step(), step()])
  assert.deepEqual(steps.map(({ body }) => String(body['replayed'])).toSorted(), ['0', '0', '2'])
  assert.equal((await step()).body['replayed'], 0)
  assert.deepEqual(await count(`webhook_endpoint_id=${endpointId}`), [1])
  const made = await sql`
    select replay_of, replay_actor, replay_reason from delivery
    where webhook_endpoint_id = ${endpointId} and replay_reason = 'mended' order by created_at, replay_of`
  assert.deepEqual(
    made.map((row) => String(row['replay_of'])).toSorted(),
    deliveries
      .slice(0, 2)
      .map((row) => row.delivery_id)
      .toSorted(),
  )
  const logged =
    await sql`select target, actor from operator_log where action = 'delivery.replay' and reason = 'mended'`
  assert.equal(logged.length, 2)
  // What failed again is replayed by its last delivery, once.
  await sql`update delivery set state = 'dead', finished_at = now() where replay_reason = 'mended'`
  assert.deepEqual(await count(`webhook_endpoint_id=${endpointId}&state=dead`), [2])
})

test('a bulk replay of one step is bounded', async () => {
  const { endpointId, owner, deliveries } = await receiver('many', 1)
  const packageId = String(deliveries[0]?.package_id)
  await sql`
    insert into notification (organization_id, sequence, notification_id, event_id, event_type, package_id, body, occurred_at)
    select ${owner.organizationId}, 1000 + n, 'ntf_many_' || n, 'evt_many_' || n, 'package.accepted', ${packageId}, '{}',
      now()
    from generate_series(1, 700) as n`
  await sql`
    insert into delivery (delivery_id, webhook_endpoint_id, organization_id, package_id, notification_id, event_id,
      state, next_attempt_at, created_at, finished_at)
    select 'dlv_many_' || n, ${endpointId}, ${owner.organizationId}, ${packageId}, 'ntf_many_' || n, 'evt_many_' || n, 'dead',
      now(), now() - interval '1 minute', now()
    from generate_series(1, 700) as n`
  const sizes: unknown[] = []
  for (let step = 0; step < 4; step++) {
    const { body } = await world.operate('POST', '/replays', { webhook_endpoint_id: endpointId, reason: 'r' })
    sizes.push(body['replayed'])
  }
  assert.deepEqual(sizes, [500, 201, 0, 0])
})

interface Entry {
  readonly position: number
  readonly proof: Readonly<Record<string, unknown>>
}

async function evidence(by: Organization, path: string): Promise<Entry[]> {
  const { status, body, text } = await by.get(`/v1/audit/${path}?limit=1000`)
  assert.equal(status, 200, text)
  return body['entries'] as Entry[]
}

const replaysIn = (entries: readonly Entry[]) =>
  entries.filter(({ proof }) => proof['kind'] === 'delivery_replayed').map(({ proof }) => proof)

test('[AUD-01][EVT-12] a replay is in the evidence of the organization whose delivery it was, and of no other', async () => {
  const { owner, endpointId, deliveries } = await receiver('evident', 1)
  const [dead] = deliveries
  assert.ok(dead)
  const { body: made } = await replay(dead.delivery_id, 'fixed the proxy')
  const thread = String((await owner.get(`/v1/packages/${dead.package_id}`)).body['thread_id'])
  await sendPackage(sender, owner, { threadId: thread })
  for (const path of [`packages/${dead.package_id}`, `threads/${thread}`]) {
    const [proof, ...more] = replaysIn(await evidence(owner, path))
    assert.equal(more.length, 0)
    const { previous_hash: _previous, hash: _hash, recorded_at, ...said } = proof ?? {}
    assert.ok(recorded_at)
    assert.deepEqual(said, {
      kind: 'delivery_replayed',
      actor: 'admin',
      reason: 'fixed the proxy',
      delivery_id: made['delivery_id'],
      replay_of: dead.delivery_id,
      notification_id: dead.notification_id,
      event_id: dead.event_id,
      webhook_endpoint_id: endpointId,
    })
    const theirs = await evidence(sender, path)
    assert.ok(!JSON.stringify(theirs).includes('fixed the proxy'))
    assert.deepEqual(replaysIn(theirs), [])
  }
  // The other party sees a gap, and the chain goes on over it.
  const positions = async (by: Organization) =>
    (await evidence(by, `threads/${thread}`)).map(({ position }) => position)
  assert.deepEqual(await positions(owner), [1, 2, 3, 4, 5, 6, 7, 8, 9])
  assert.deepEqual(await positions(sender), [1, 2, 3, 4, 6, 7, 8, 9])
  assert.equal(await brokenLinks(world, thread), 0)
})

test('[AUD-01][EVT-12] replays in bulk, and of what an endpoint missed, are in evidence too', async () => {
  const { owner, endpointId, deliveries } = await receiver('evident_bulk', 3)
  const packages = deliveries.map(({ package_id }) => package_id)
  await world.operate('POST', '/replays', { webhook_endpoint_id: endpointId, reason: 'mended in bulk' })
  await world.operate('POST', `/endpoints/${endpointId}/disable`, { reason: 'pause' })
  const missed = (await sendPackage(sender, owner)).metadata
  await world.operate('POST', `/endpoints/${endpointId}/enable`, {})
  await world.operate('POST', `/endpoints/${endpointId}/replay-missed`, { reason: 'was paused' })
  for (const packageId of packages) {
    const [proof] = replaysIn(await evidence(owner, `packages/${packageId}`))
    assert.equal(proof?.['reason'], 'mended in bulk')
  }
  const [never] = replaysIn(await evidence(owner, `packages/${missed.package_id}`))
  assert.equal(never?.['reason'], 'was paused')
  assert.ok(never && !('replay_of' in never))
})

test('[AUD-01] replays and packages of one thread at once keep the chain whole', async () => {
  const { owner, deliveries } = await receiver('crowded', 4)
  const [first] = deliveries
  const thread = String((await owner.get(`/v1/packages/${first?.package_id}`)).body['thread_id'])
  await Promise.all([
    ...deliveries.map(({ delivery_id }) => replay(delivery_id)),
    ...Array.from({ length: 8 }, () => sendPackage(sender, owner, { threadId: thread })),
  ])
  assert.equal(await brokenLinks(world, thread), 0)
  assert.equal(replaysIn(await evidence(owner, `threads/${thread}`)).length, 1)
})

test('deliveries are listed by state, endpoint and time, the newest first, page by page', async () => {
  const { owner, endpointId, deliveries } = await receiver('listed', 6)
  await finish(deliveries[0]?.delivery_id, 'delivered')
  await finish(deliveries[1]?.delivery_id, 'failed')
  await sql`update delivery set state = 'pending', finished_at = null where delivery_id = ${deliveries[2]?.delivery_id ?? ''}`
  const list = async (query: string) => {
    const ids: unknown[] = []
    for (let next = ''; ;) {
      const { status, body } = await world.operate('GET', `/deliveries?limit=2&${query}${next}`)
      assert.equal(status, 200, JSON.stringify(body))
      ids.push(...(body['items'] as Row[]).map((row) => row.delivery_id))
      if (typeof body['next_cursor'] !== 'string') return ids
      next = `&after=${body['next_cursor']}`
    }
  }
  const newest = deliveries.map((row) => row.delivery_id).toReversed()
  assert.deepEqual(await list(`webhook_endpoint_id=${endpointId}`), newest)
  assert.deepEqual(await list(`organization_id=${owner.organizationId}`), newest)
  assert.deepEqual(await list(`webhook_endpoint_id=${endpointId}&state=dead`), newest.slice(0, 3))
  for (const [state, index] of [
    ['delivered', 5],
    ['failed', 4],
    ['pending', 3],
  ] as const) {
    assert.deepEqual(await list(`webhook_endpoint_id=${endpointId}&state=${state}`), [newest[index]])
  }
  const [middle] = await sql<{ at: Date }[]>`
    select created_at as at from delivery where delivery_id = ${newest[2] ?? ''}`
  const at = middle?.at.toISOString() ?? ''
  assert.deepEqual(await list(`webhook_endpoint_id=${endpointId}&since=${at}`), newest.slice(0, 3))
  assert.deepEqual(await list(`webhook_endpoint_id=${endpointId}&until=${at}`), newest.slice(3))
  assert.equal((await world.operate('GET', '/deliveries?since=yesterday')).status, 422)
  await sql`update webhook_endpoint set status = 'deleted' where webhook_endpoint_id = ${endpointId}`
  assert.deepEqual(await list(`organization_id=${owner.organizationId}`), newest, 'of a deleted endpoint too')
  assert.deepEqual(await list(`organization_id=org_x&webhook_endpoint_id=${endpointId}`), [])
})

test('lists of deliveries, and the look for replays of one, go through an index in order', async () => {
  const newest = (condition: string) =>
    `select delivery_id from delivery where ${condition} order by delivery_id desc limit 100`
  const plans = [
    newest('true'),
    newest("state = 'delivered'"),
    newest("webhook_endpoint_id = 'whe_x' and state = 'delivered'"),
    newest("state in ('failed', 'dead') and state = 'dead'"),
    newest("webhook_endpoint_id = 'whe_x' and state in ('failed', 'dead')"),
    "select from delivery where replay_of = 'dlv_x'",
  ]
  for (const query of plans) {
    const plan = await sql.begin(async (tx) => {
      // The table of a test is so small that reading all of it would be cheaper.
      await tx`set local enable_seqscan = off`
      await tx`set local enable_bitmapscan = off`
      await tx`set local enable_sort = off`
      return (await tx.unsafe(`explain ${query}`)).map((row) => String(row['QUERY PLAN'])).join('\n')
    })
    assert.match(plan, /Index (Only )?Scan/)
    assert.doesNotMatch(plan, /Seq Scan|Sort/)
  }
})
