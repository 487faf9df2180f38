import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import type { Envelope } from '@agent-exchange/crypto'
import type { PackageMetadata } from '@agent-exchange/protocol'
import {
  assertProblem,
  boundToAgent,
  draftPackage,
  freshId,
  organizations,
  secondAgent,
  sendPackage,
  sendReceipt,
  sendRevocation,
  startWorld,
  untilBlocked,
  type Answer,
  type Organization,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const [seats, cars, steel] = await organizations(world, 'seats', 'cars', 'steel')

const sent = async () => (await sendPackage(seats, cars)).metadata
const pathOf = ({ package_id }: PackageMetadata) => `/content/packages/${package_id}`
const stateOf = async ({ package_id }: PackageMetadata) =>
  (await seats.get(`/v1/packages/${package_id}`)).body['state']
const deliveredEvents = async ({ package_id }: PackageMetadata) =>
  (
    await world.sql`select from notification where package_id = ${package_id} and event_type = 'package.delivered'`
  ).length

/** The fetches that evidence records. */
async function fetches({ package_id }: PackageMetadata) {
  const { body } = await seats.get(`/v1/audit/packages/${package_id}`)
  const entries = (body['entries'] ??
    (await cars.get(`/v1/audit/packages/${package_id}`)).body['entries']) as Fetch[]
  return entries
    .filter(({ proof }) => proof['kind'] === 'content_fetched')
    .map(({ proof: { organization_id, client_id, agent_id } }) => ({
      organization_id,
      client_id,
      ...(agent_id !== undefined && { agent_id }),
    }))
}

interface Fetch {
  readonly proof: Readonly<Record<string, unknown>>
}

/** Sends the request as given and returns the body as bytes. */
async function request(by: Organization, method: string, metadata: PackageMetadata, range?: string) {
  const response = await fetch(`${world.url}${pathOf(metadata)}`, {
    method,
    headers: { authorization: `Bearer ${await by.token()}`, ...(range !== undefined && { range }) },
  })
  return { response, bytes: Buffer.from(await response.arrayBuffer()) }
}

test('[PKG-04][O-36] a download returns the exact submitted bytes, however they were written', async () => {
  const draft = await draftPackage(seats, cars)
  await seats.post('/v1/policy-receipts', draft.receipt)
  const { protected: head, payload, signature } = draft.body as Envelope
  const raw = `\n{ "signature":"${signature}",\t"payload" : "${payload}" ,"\\u0070rotected":"${head}"}\r\n `
  const answer = await seats.post('/v1/packages', undefined, { raw })
  assert.equal(answer.status, 202, answer.text)
  const { response, bytes } = await request(cars, 'GET', draft.metadata)
  assert.equal(response.status, 200)
  assert.equal(bytes.toString(), raw)
  assert.match(response.headers.get('content-type') ?? '', /^application\/json/)
  assert.equal(response.headers.get('cache-control'), 'no-store')
  assert.equal(answer.body['ciphertext_download_url'], `${world.url}${pathOf(draft.metadata)}`)
})

test('[PKG-07][AUTH-03] only the parties download, and nobody without a token', async () => {
  const metadata = await sent()
  for (const party of [seats, cars, await secondAgent(cars)]) {
    assert.equal((await request(party, 'GET', metadata)).response.status, 200)
  }
  assertProblem(await steel.get(pathOf(metadata)), 'resource_not_found', {})
  assertProblem(await cars.get(`/content/packages/${freshId('pkg')}`), 'resource_not_found', {})
  const anonymous = await cars.get(pathOf(metadata), { headers: { authorization: undefined } })
  assertProblem(anonymous, 'access_token_missing')
  assertProblem(await cars.get(`/content/packages/${'p'.repeat(2_000)}`), 'resource_not_found')
  assertProblem(await cars.get('/content/packages/%00'), 'resource_not_found')
})

test('[PKG-11][O-03][O-36] only a GET by the recipient delivers: HEAD and the sender move nothing and leave no entry', async () => {
  const metadata = await sent()
  const whole = await request(seats, 'GET', metadata)
  assert.equal(whole.response.status, 200)
  const head = await request(cars, 'HEAD', metadata)
  assert.equal(head.response.status, 200)
  assert.equal(head.bytes.length, 0)
  assert.equal(head.response.headers.get('content-length'), String(whole.bytes.length))
  assert.equal(await stateOf(metadata), 'encrypted_available')
  assert.equal(await deliveredEvents(metadata), 0)
  assert.deepEqual(await fetches(metadata), [])

  const { bytes } = await request(cars, 'GET', metadata)
  assert.deepEqual(bytes, whole.bytes)
  assert.equal(await stateOf(metadata), 'delivered')
  assert.equal(await deliveredEvents(metadata), 2)
})

test('[PKG-11][AUD-01][O-36] Range is ignored: no part is sent without evidence', async () => {
  for (const range of [
    'bytes=0-',
    'bytes=10-19',
    'bytes=99999999-',
    'bytes=0-1,3-4',
    'items=0-1',
    'bytes=-5',
  ]) {
    const metadata = await sent()
    const whole = await request(seats, 'GET', metadata, range)
    assert.equal(whole.response.status, 200)
    assert.equal(await stateOf(metadata), 'encrypted_available')
    const { response, bytes } = await request(cars, 'GET', metadata, range)
    assert.equal(response.status, 200, range)
    assert.deepEqual(bytes, whole.bytes)
    for (const name of ['accept-ranges', 'content-range']) assert.equal(response.headers.get(name), null)
    assert.equal(await stateOf(metadata), 'delivered')
    assert.equal((await fetches(metadata)).length, 1, range)
  }
})

test('[AUD-01] the first fetch of each client is evidence: organization, client, and agent if the token names one', async () => {
  const metadata = await sent()
  const bound = await boundToAgent(cars)
  for (let round = 0; round < 2; round++) {
    for (const by of [cars, bound, seats])
      assert.equal((await request(by, 'GET', metadata)).response.status, 200)
  }
  const { organizationId: organization_id, clientId: client_id } = cars
  assert.deepEqual(await fetches(metadata), [
    { organization_id, client_id },
    { organization_id, client_id: bound.clientId, agent_id: cars.agentId },
  ])
  assert.equal(await deliveredEvents(metadata), 2)
  await sendReceipt(cars, metadata, 'opened')
  await request(await boundToAgent(cars), 'GET', metadata)
  assert.equal((await fetches(metadata)).length, 3)
  assert.equal(await stateOf(metadata), 'opened')
})

test('[PKG-07][O-36] a client of one agent downloads what that agent sent or was sent, and nothing else', async () => {
  const metadata = await sent()
  for (const [owner, own] of [
    [cars, await boundToAgent(cars)],
    [seats, await boundToAgent(seats)],
  ] as const) {
    const stranger = await boundToAgent(await secondAgent(owner, 'stranger'))
    for (const method of ['GET', 'HEAD'])
      assert.equal((await request(stranger, method, metadata)).response.status, 404)
    assertProblem(await stranger.get(pathOf(metadata)), 'resource_not_found', {})
    assert.equal((await request(own, 'GET', metadata)).response.status, 200)
  }
  assert.equal((await fetches(metadata)).length, 1)
})

test('[PKG-07][PKG-11] within one organization the sending agent’s own client moves nothing', async () => {
  const second = await secondAgent(cars, 'inside')
  const { metadata } = await sendPackage(cars, second)
  await request(await boundToAgent(cars), 'GET', metadata)
  assert.deepEqual(await fetches(metadata), [])
  await request(await boundToAgent(second), 'GET', metadata)
  assert.equal((await fetches(metadata)).length, 1)
})

test('[PKG-11][EVT-01] concurrent fetches deliver once', async () => {
  const metadata = await sent()
  const fetched = await Promise.all(Array.from({ length: 10 }, () => request(cars, 'GET', metadata)))
  for (const { response } of fetched) assert.equal(response.status, 200)
  assert.equal(await deliveredEvents(metadata), 2)
  const entries = await world.sql`select from audit_record where package_id = ${metadata.package_id}
    and entries like '%content_fetched%'`
  assert.equal(entries.length, 1)
})

test('[PKG-10][PKG-11] content that is revoked during a fetch is not sent', async () => {
  const metadata = await sent()
  const pending: Promise<Answer>[] = []
  // Holds the thread's lock by the name that the service uses: both have read the package, and the revocation comes first.
  const name = createHash('sha256').update(`thread\0${metadata.thread_id}`).digest()
  await world.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${name.readBigInt64BE().toString()}::bigint)`
    pending.push(sendRevocation(seats, metadata))
    await untilBlocked(world, 1)
    pending.push(cars.get(pathOf(metadata)))
    await untilBlocked(world, 2)
  })
  const [revocation, fetched] = await Promise.all(pending)
  assert.equal(revocation?.status, 200)
  assert.ok(fetched)
  assertProblem(fetched, 'package_revoked')
  assert.equal(await deliveredEvents(metadata), 0)
})

test('[PKG-11] a fetch after the receipt moves nothing back', async () => {
  const metadata = await sent()
  await sendReceipt(cars, metadata, 'opened')
  assert.equal((await request(cars, 'GET', metadata)).response.status, 200)
  assert.equal(await stateOf(metadata), 'opened')
  assert.equal(await deliveredEvents(metadata), 0)
})

test('[PKG-12][O-27] after expires_at neither party gets the content; package, thread and evidence remain', async () => {
  const expires_at = new Date(Date.parse(world.clock.now()) + 60_000).toISOString()
  const { metadata } = await sendPackage(seats, cars, { metadata: { expires_at } })
  world.clock.advance(61)
  for (const party of [seats, cars]) {
    assertProblem(await party.get(pathOf(metadata)), 'package_expired', {})
    for (const path of [
      `/v1/packages/${metadata.package_id}`,
      `/v1/threads/${metadata.thread_id}`,
      `/v1/audit/packages/${metadata.package_id}`,
      `/v1/audit/threads/${metadata.thread_id}`,
    ]) {
      assert.equal((await party.get(path)).status, 200)
    }
  }
  assert.equal(await stateOf(metadata), 'encrypted_available')
})
