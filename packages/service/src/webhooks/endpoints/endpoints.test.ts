import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  assertProblem,
  deliveryWorld,
  sendPackage,
  sendReceipt,
  startWorld,
  type Organization,
  until,
} from '@agent-exchange/testkit'

// Without a worker, deliveries stay pending.
const world = await startWorld({ profile: { 'O-13': { webhook_endpoints: 60 } }, config: { role: 'api' } })
after(() => world[Symbol.asyncDispose]())
const [seats, cars] = await Promise.all([world.organization('seats'), world.organization('cars')])

const register = (by: Organization, url: string, eventTypes: string[] = []) =>
  by.post('/v1/webhook-endpoints', { url, event_types: eventTypes })

const GOOD = [
  'https://agent.example/hook',
  'https://agent.example',
  'https://agent.example:8443/a/b?c=d&e=%20',
  'https://192.0.2.7/hook',
  'https://[2001:db8::7]:443/hook',
  'HTTPS://Agent.Example/Hook',
  'https://agent.example/@team',
]
const BAD = [
  'http://agent.example/hook',
  'ftp://agent.example/hook',
  'agent.example/hook',
  '//agent.example/hook',
  'https:agent.example/hook',
  'https:/agent.example/hook',
  'https:///agent.example/hook',
  'https://',
  'https://user@agent.example/hook',
  'https://user:secret@agent.example/hook',
  'https://@agent.example/hook',
  'https://:@agent.example/hook',
  'https://agent.example/hook#part',
  'https://agent.example/hook#',
  'https://agent.example/a b',
  'https://agent.example\\@evil.example/',
  'https://agent.example:99999/',
  'https://[::1/',
  'https://exa%20mple/',
  ' https://agent.example/hook',
  'https://agent.example/hook\n',
  'https://agent.example/\u202e',
  'javascript:alert(1)',
  '',
  `https://agent.example/${'a'.repeat(4_100)}`,
]

test('[EVT-15][O-33] a private address is refused at registration unless the operator permits it', async () => {
  await using strict = await startWorld({
    config: { role: 'api', webhook: { ca: undefined, allowPrivate: false } },
  })
  const org = await strict.organization('strict')
  const hosts = [
    'localhost:3000',
    'a.localhost',
    'LOCALHOST.',
    '127.0.0.1',
    '2130706433',
    '10.1.2.3',
    '169.254.169.254',
  ]
  for (const host of [...hosts, '168.63.129.16', '[::1]', '[::ffff:10.0.0.1]', '[fd00::1]']) {
    const answer = await register(org, `https://${host}/hook`)
    assertProblem(answer, 'validation_failed')
    assert.match(answer.text, /O-33.*AEX_WEBHOOK_ALLOW_PRIVATE/u)
    assert.equal((await register(seats, `https://${host}/hook`)).status, 201)
  }
  for (const host of ['8.8.8.8', 'agent.example', '[2606:4700::1111]'])
    assert.equal((await register(org, `https://${host}/hook`)).status, 201, host)
})

test('[EVT-15][EVT-06] an https URL without user information is stored unchanged; the response names a published key', async () => {
  const { body: directory } = await seats.get('/v1/directory/notification-keys')
  const known = new Set((directory['keys'] as { key_id: string }[]).map(({ key_id }) => key_id))
  for (const url of GOOD) {
    const answer = await register(seats, url, ['package.accepted', 'something.unknown', ''])
    assert.equal(answer.status, 201, `${url} ${answer.text}`)
    assert.deepEqual(
      [answer.body['url'], answer.body['status'], answer.body['event_types']],
      [url, 'active', ['package.accepted', 'something.unknown', '']],
    )
    assert.ok(known.has(String(answer.body['signing_key_id'])))
    assert.deepEqual(Object.keys(answer.body).toSorted(), [
      'event_types',
      'signing_key_id',
      'status',
      'url',
      'webhook_endpoint_id',
    ])
  }
})

test('[EVT-15][EVT-06] any other URL is refused and not echoed', async () => {
  for (const url of BAD) {
    const answer = await register(seats, url)
    assertProblem(answer, 'validation_failed', undefined, url)
    assert.equal(answer.text.includes('agent.example'), false, answer.text)
  }
})

test('[EVT-15][O-13] the endpoint quota is exact under concurrency, and deleting an endpoint frees it', async () => {
  await using small = await startWorld({ profile: { 'O-13': { webhook_endpoints: 2 } } })
  const organization = await small.organization('few')
  const answers = await Promise.all(GOOD.map((url) => register(organization, url)))
  assert.equal(answers.filter(({ status }) => status === 201).length, 2)
  const refused = answers.find(({ status }) => status !== 201)
  assert.ok(refused)
  assertProblem(refused, 'quota_reached', { quota: 'webhook_endpoints', maximum: 2 })
  const kept = String(answers.find(({ status }) => status === 201)?.body['webhook_endpoint_id'])
  assert.equal((await small.operate('POST', `/endpoints/${kept}/delete`, {})).status, 200)
  assert.equal((await register(organization, 'https://agent.example/new')).status, 201)
  assertProblem(await register(organization, 'https://agent.example/newer'), 'quota_reached')
})

test('[EVT-08][O-13] an endpoint that answered 410 leaves its place in the quota, one that an operator disabled does not', async () => {
  await using made = await deliveryWorld({ profile: { 'O-13': { webhook_endpoints: 1 } } })
  const { world: small, receiver, owner } = made
  const gone = await made.endpoint()
  assertProblem(await register(owner, `${receiver.url}/second`), 'quota_reached')
  receiver.reply = () => 410
  await made.event()
  await until(
    'disabled',
    async () => (await small.operate('GET', `/endpoints/${gone}`)).body['status'] === 'disabled',
  )
  const second = await made.endpoint(`${receiver.url}/second`)
  const usage = (await small.operate('GET', `/organizations/${owner.organizationId}`)).body['usage']
  assert.deepEqual(Reflect.get(usage as object, 'webhook_endpoints'), { used: 1, maximum: 1 })
  assert.equal((await small.operate('POST', `/endpoints/${second}/disable`, { reason: 'x' })).status, 200)
  assertProblem(await register(owner, `${receiver.url}/third`), 'quota_reached')
})

test('[EVT-01][EVT-15] deliveries are created for subscribed endpoints only', async () => {
  const to = await world.organization('to')
  const endpoints = {
    all: await endpoint(to, []),
    accepted: await endpoint(to, ['package.accepted']),
    received: await endpoint(to, ['package.received', 'package.delivered']),
    other: await endpoint(to, ['package.accepted.not', 'PACKAGE.ACCEPTED']),
    disabled: await endpoint(to, []),
    deleted: await endpoint(to, []),
    foreign: await endpoint(cars, []),
  }
  await world.operate('POST', `/endpoints/${endpoints.disabled}/disable`, { reason: 'test' })
  await world.operate('POST', `/endpoints/${endpoints.deleted}/delete`, {})
  const { metadata } = await sendPackage(seats, to)
  await sendReceipt(to, metadata, 'received')
  const rows = await world.sql<
    { webhook_endpoint_id: string; event_type: string; state: string; attempt: number }[]
  >`
    select webhook_endpoint_id, event_type, state, attempt from delivery
    join notification using (notification_id) where delivery.organization_id = ${to.organizationId}
    order by sequence, webhook_endpoint_id`
  const named = new Map(Object.entries(endpoints).map(([name, id]) => [id, name]))
  assert.deepEqual(rows.map((row) => `${named.get(row.webhook_endpoint_id)} ${row.event_type}`).toSorted(), [
    'accepted package.accepted',
    'all package.accepted',
    'all package.received',
    'received package.received',
  ])
  const [foreign] =
    await world.sql`select count(*)::int from delivery where webhook_endpoint_id = ${endpoints.foreign}`
  assert.equal(foreign?.['count'], 0)
})

async function endpoint(by: Organization, eventTypes: string[]): Promise<string> {
  const answer = await register(by, 'https://agent.example/hook', eventTypes)
  assert.equal(answer.status, 201, answer.text)
  return String(answer.body['webhook_endpoint_id'])
}
