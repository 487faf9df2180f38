import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { NotificationEnvelope } from '@agent-exchange/protocol'
import {
  assertProblem,
  sendPackage,
  sendReceipt,
  sendRevocation,
  startWorld,
  type Organization,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const [seats, cars] = await Promise.all([world.organization('seats'), world.organization('cars')])

const MEMBERS = [
  'content_digest',
  'correlation_id',
  'event_id',
  'event_type',
  'notification_id',
  'occurred_at',
  'organization_id',
  'package_id',
  'protocol_version',
  'sequence',
  'state',
  'thread_id',
  'transport_mode',
]

async function read(organization: Organization, query = '') {
  const { status, text, body } = await organization.get(`/v1/notifications${query}`)
  assert.equal(status, 200, text)
  return body as { items: NotificationEnvelope[]; next_cursor: string; has_more: boolean }
}

test('[EVT-10] an empty stream has a cursor, and later notifications follow it', async () => {
  const [from, to] = await Promise.all([world.organization('from'), world.organization('to')])
  const empty = await read(to)
  assert.deepEqual([empty.items, empty.has_more, typeof empty.next_cursor], [[], false, 'string'])
  const still = await read(to, `?after=${empty.next_cursor}`)
  assert.deepEqual([still.items, still.has_more, typeof still.next_cursor], [[], false, 'string'])
  const { metadata } = await sendPackage(from, to)
  const page = await read(to, `?after=${still.next_cursor}`)
  assert.deepEqual(
    page.items.map(({ sequence, package_id }) => [sequence, package_id]),
    [[1, metadata.package_id]],
  )
  assert.deepEqual((await read(to, `?after=${page.next_cursor}`)).items, [])
})

test('[EVT-01][EVT-02][EVT-03] an acceptance is one event in both streams, metadata only, with the causing correlation id', async () => {
  const draft = await sendPackage(seats, cars)
  const { metadata } = draft
  const [sent, received] = await Promise.all([read(seats), read(cars)])
  const mine = sent.items.find(({ package_id }) => package_id === metadata.package_id)
  const theirs = received.items.find(({ package_id }) => package_id === metadata.package_id)
  assert.ok(mine && theirs)
  assert.deepEqual(Object.keys(mine).toSorted(), MEMBERS)
  assert.deepEqual(
    [mine.organization_id, theirs.organization_id],
    [seats.organizationId, cars.organizationId],
  )
  assert.notEqual(mine.notification_id, theirs.notification_id)
  const { notification_id: _a, organization_id: _b, sequence: _c, ...fact } = mine
  const { notification_id: _d, organization_id: _e, sequence: _f, ...same } = theirs
  assert.deepEqual(fact, same)
  assert.deepEqual(
    [fact.state, fact.transport_mode, fact.content_digest, fact.protocol_version, fact.event_type],
    ['accepted', 'native', metadata.content_digest, 'svc/1.0', 'package.accepted'],
  )
  // Polling again returns the same record.
  assert.deepEqual(
    (await read(seats)).items.find(({ sequence }) => sequence === mine.sequence),
    mine,
  )
})

test('[EVT-01][O-25] if both parties are one organization, its stream gets one notification', async () => {
  const alone = await world.organization('alone')
  await sendPackage(alone, alone)
  assert.deepEqual(
    (await read(alone)).items.map(({ sequence }) => sequence),
    [1],
  )
})

test('[EVT-01] a refused request creates no event, and a retry no second one', async () => {
  const { metadata } = await sendPackage(seats, cars)
  const before = (await read(cars, '?limit=1000')).items.length
  assert.equal(
    (
      await sendReceipt(cars, metadata, 'received', {
        change: { package_digest: `sha-256=:${'A'.repeat(43)}=:` },
      })
    ).status,
    422,
  )
  assertProblem(await sendRevocation(cars, metadata), 'not_permitted')
  assert.equal((await read(cars, '?limit=1000')).items.length, before)
  await sendReceipt(cars, metadata, 'received')
  await sendReceipt(cars, metadata, 'received')
  await sendReceipt(cars, metadata, 'rejected')
  const received = (await read(cars, '?limit=1000')).items.slice(before)
  assert.deepEqual(
    received.map(({ event_type }) => event_type),
    ['package.received'],
  )
})

test('[EVT-10][O-15] limit bounds a page, and has_more says whether another page follows', async () => {
  const [from, to] = await Promise.all([world.organization('from'), world.organization('to')])
  for (let index = 0; index < 3; index++) await sendPackage(from, to)
  const pages = await Promise.all([1, 2, 3, 1000].map((limit) => read(to, `?limit=${limit}`)))
  assert.deepEqual(
    pages.map(({ items, has_more }) => [items.length, has_more]),
    [
      [1, true],
      [2, true],
      [3, false],
      [3, false],
    ],
  )
  assertProblem(await to.get('/v1/notifications?limit=1001'), 'validation_failed')
})

test('[O-10] the profile adds events for further states, one per request', async () => {
  const states = [
    'accepted',
    'encrypted_available',
    'delivered',
    'received',
    'opened',
    'responded',
    'revoked',
  ]
  await using own = await startWorld({ profile: { 'O-10': { states } } })
  const [from, to] = await Promise.all([own.organization('from'), own.organization('to')])
  const opened = await sendPackage(from, to)
  await sendReceipt(to, opened.metadata, 'opened')
  await sendPackage(to, from, { threadId: opened.metadata.thread_id, respondsTo: opened.metadata.package_id })
  const revoked = await sendPackage(from, to)
  await sendRevocation(from, revoked.metadata)
  const { items } = await read(from)
  const events = items.map(({ event_type, state, package_id }) => [
    event_type,
    state,
    package_id === opened.metadata.package_id,
  ])
  assert.ok(
    events.every(([type, state]) => type === `package.${String(state)}`),
    JSON.stringify(events),
  )
  assert.deepEqual(
    events
      .filter(([, , first]) => first)
      .map(([type]) => type)
      .filter((type) => type !== 'package.encrypted_available'),
    ['package.accepted', 'package.opened', 'package.responded'],
  )
  assert.ok(events.some(([type]) => type === 'package.revoked'))
  assert.deepEqual(
    items.map(({ sequence }) => sequence),
    items.map((_, index) => index + 1),
  )
})

test('[EVT-15][O-10] an endpoint with an empty filter gets every event type, any other those that it lists', async () => {
  const [from, to] = await Promise.all([world.organization('from'), world.organization('to')])
  const endpoint = async (event_types: string[]) =>
    (await to.post('/v1/webhook-endpoints', { url: 'https://agent.example/hook', event_types })).body[
      'webhook_endpoint_id'
    ]
  const [all, some] = [await endpoint([]), await endpoint(['package.received', 'other'])]
  const { metadata } = await sendPackage(from, to)
  await sendReceipt(to, metadata, 'received')
  const rows = await world.sql`
    select webhook_endpoint_id as id, event_type from delivery join notification using (notification_id)
    where delivery.package_id = ${metadata.package_id} order by sequence`
  const typesOf = (id: unknown) =>
    rows.filter((row) => row['id'] === id).map((row) => String(row['event_type']))
  assert.deepEqual(typesOf(all), ['package.accepted', 'package.received'])
  assert.deepEqual(typesOf(some), ['package.received'])
})

test('[AUTH-03][O-09] a client of one agent can read the stream of its organization unless the profile forbids it', async () => {
  const bound = await world.organization('bound', { agentBound: true })
  assert.equal((await bound.get('/v1/notifications')).status, 200)
  await using strict = await startWorld({
    profile: { 'O-09': { agent_clients_use_stream: false, agent_clients_manage_endpoints: false } },
  })
  const refused = await strict.organization('bound', { agentBound: true })
  assertProblem(await refused.get('/v1/notifications'), 'not_permitted')
  const endpoint = { url: 'https://agent.example/hook', event_types: [] }
  assertProblem(await refused.post('/v1/webhook-endpoints', endpoint), 'not_permitted')
})
