import assert from 'node:assert/strict'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, test } from 'node:test'
import { exampleObjects } from '@agent-exchange/protocol'
import { until } from '@agent-exchange/testkit'
import { Webhook } from 'standardwebhooks'
import { listAccess } from '../content/access-record.ts'
import { alterContent, storeContent, testContents } from '../content/contents.fixture.ts'
import { addItem, endTimes } from '../inbox/inbox.fixture.ts'
import { openLeaseWaiters } from '../inbox/lease-waiters.ts'
import { MasterKeyError } from '@agent-exchange/server/master-key'
import { listListeners, reportInstance } from '../startup/instances.ts'
import { gatewayDatabase } from '../stores/gateway-database.fixture.ts'
import { isPushAddress } from './push-address.ts'
import { addPushEndpoint, removePushEndpoint, type SecretWrap } from './push-endpoints.ts'
import { createPushSender } from './push-sender.ts'
import { startPushWorker } from './push-worker.ts'

const opened = await gatewayDatabase()
const { db } = opened
const contents = testContents(db)
/** Secrets are wrapped by the master key; here only the context counts. */
const box: SecretWrap = {
  wrap: (context, secret) => Buffer.from(`${context}\n${Buffer.from(secret).toString('hex')}`),
  unwrap: (context, wrapped) => {
    const [of, hex = ''] = Buffer.from(wrapped).toString().split('\n')
    assert.equal(of, context)
    return Buffer.from(hex, 'hex')
  },
}

const heard: { headers: IncomingHttpHeaders; body: string }[] = []
let status = 204
const endpoint = createServer((request, response) => {
  let body = ''
  request.on('data', (chunk: Buffer) => (body += chunk.toString()))
  request.on('end', () => {
    heard.push({ headers: request.headers, body })
    response.writeHead(status, { location: 'http://169.254.169.254/' }).end('secret words of the endpoint')
  })
})
let host = ''
let url = ''
before(async () => {
  await opened.agentNamed('agent_a')
  await new Promise<void>((resolve) => endpoint.listen(0, '127.0.0.1', resolve))
  host = `127.0.0.1:${(endpoint.address() as AddressInfo).port}`
  url = `http://${host}/inbox`
})
after(async () => {
  endpoint.close()
  endpoint.closeAllConnections()
  await opened[Symbol.asyncDispose]()
})
beforeEach(async () => {
  heard.length = 0
  status = 204
  await db`delete from inbox_item`
})

type Settings = Parameters<typeof startPushWorker>[0]
const pushing = (given: Pick<Settings, 'leases'> & Partial<Settings>) =>
  startPushWorker({
    db,
    box,
    allowedHosts: new Set([host]),
    ownPorts: new Set(),
    now: () => new Date(),
    log: { error: () => undefined },
    ...given,
  })

test('an item is pushed with a signature that the library of the convention verifies, and is done', async () => {
  const { secret } = await addPushEndpoint(
    db,
    { agentId: 'agent_a', url, allowedHosts: new Set([host]) },
    box,
  )
  const leases = await openLeaseWaiters({ db, contents })
  await using worker = pushing({ leases })
  assert.ok(worker)
  const object = exampleObjects.reasoning_package
  await storeContent(db, 'agent_a', 'pkg_push', object)
  await addItem(db, { agentId: 'agent_b' })
  status = 500
  await addItem(db, { packageId: 'pkg_push' })
  await until('a request', () => heard.length === 1)
  status = 204
  await until(
    'a row',
    async () => (await db`select from inbox_item where failure = 'The endpoint answered 500.'`).length === 1,
  )
  await endTimes(db)
  await db`select pg_notify('gateway_inbox', 'agent_a')`
  await until('a request', () => heard.length === 2)
  await until('a row', async () => (await db`select from inbox_item where state = 'done'`).length === 1)
  leases.stop()
  const [first, second] = heard
  assert.ok(first && second)
  const headers = second.headers as Record<string, string>
  const verified = new Webhook(secret).verify(second.body, headers) as {
    data: { package_id: string; object: unknown }
  }
  assert.deepEqual(verified.data.object, object)
  assert.equal(first.headers['webhook-id'], headers['webhook-id'], 'attempts have one id')
  assert.throws(() => new Webhook(secret).verify(`${second.body} `, headers))
  const reads = await listAccess(db, 'agent_a', 'pkg_push')
  assert.deepEqual(
    reads.map(({ purpose }) => purpose),
    ['push', 'push'],
  )
  assert.ok(!JSON.stringify(await db`select * from push_endpoint`).includes(secret.slice(6)))
  assert.equal(await removePushEndpoint(db, 'agent_a'), true)
  assert.equal(await removePushEndpoint(db, 'agent_a'), false)
})

test('an item whose content cannot be decrypted is not pushed, and fails with that reason', async () => {
  await addPushEndpoint(db, { agentId: 'agent_a', url, allowedHosts: new Set([host]) }, box)
  const leases = await openLeaseWaiters({ db, contents })
  await using worker = pushing({ leases })
  assert.ok(worker)
  await storeContent(db, 'agent_a', 'pkg_damaged')
  await alterContent(db, 'pkg_damaged')
  await addItem(db, { packageId: 'pkg_damaged' })
  await until(
    'a row',
    async () =>
      (await db`select from inbox_item where failure = 'The stored content cannot be read.'`).length === 1,
  )
  leases.stop()
  assert.ok(!heard.some(({ body }) => body.includes('pkg_damaged')))
  await removePushEndpoint(db, 'agent_a')
})

test('an endpoint that is not listed, has no TLS, or carries a password is refused', async () => {
  const allowedHosts = new Set(['erp.company.example', host])
  const add = (given: string) => addPushEndpoint(db, { agentId: 'agent_a', url: given, allowedHosts }, box)
  await assert.rejects(add('https://other.example/'), /not listed/u)
  await assert.rejects(add('https://erp.company.example:8443/'), /not listed/u)
  await assert.rejects(add('https://erp.company.example.attacker.example/'), /not listed/u)
  await assert.rejects(add('http://erp.company.example/'), /https/u)
  await assert.rejects(add('https://user:x@erp.company.example/'), /password/u)
  await assert.rejects(add('ftp://erp.company.example/'), /https/u)
  await using sender = createPushSender({ allowedHosts, ownPorts: new Set() })
  const { outcome } = await sender.send('https://removed.example/', {}, '{}')
  assert.equal(outcome, 'failed', 'the list counts at each attempt')
})

test("the gateway's own listener, link-local and metadata addresses are refused, by address and by name", async () => {
  const { port } = endpoint.address() as AddressInfo
  const names = [
    'metadata.example',
    'rebinding.example',
    'loopback.example',
    '169.254.169.254',
    '[fe80::1]',
    host,
  ]
  const answers: Record<string, string[]> = {
    'metadata.example': ['169.254.169.254'],
    'rebinding.example': ['10.0.0.1', '169.254.169.254'],
    'loopback.example': ['127.0.0.1'],
  }
  await using sender = createPushSender({
    allowedHosts: new Set(names),
    ownPorts: new Set([port]),
    resolve: (name) => Promise.resolve(answers[name] ?? []),
  })
  for (const name of names) {
    const target = name === host ? url : `https://${name}/`
    assert.deepEqual(
      await sender.send(target, {}, '{}'),
      { outcome: 'failed', reason: 'The host leads to an address that is not permitted.' },
      name,
    )
  }
  assert.equal(heard.length, 0)
})

test('a name that led to a permitted address before is refused when it leads elsewhere', async () => {
  const { port } = endpoint.address() as AddressInfo
  const answers = ['127.0.0.1', '169.254.169.254']
  await using sender = createPushSender({
    allowedHosts: new Set([`localhost:${port}`]),
    ownPorts: new Set(),
    resolve: async () => [answers.shift() ?? ''],
  })
  const send = () => sender.send(`http://localhost:${port}/inbox`, {}, '{}')
  assert.deepEqual(await send(), { outcome: 'accepted' })
  endpoint.closeAllConnections()
  // The closed connection may be noticed by the first request after it.
  await until('a new connection', async () => {
    const result = await send()
    return result.outcome === 'failed' && result.reason.includes('not permitted')
  })
  assert.equal(heard.length, 1)
})

test('addresses of the company and public ones are permitted, others are not', () => {
  const rules = { ownPorts: new Set([8090]) }
  const to = (address: string, hostname = 'erp.company.example', port = 443) =>
    isPushAddress(address, { hostname, port }, rules)
  for (const address of ['10.1.2.3', '192.168.0.7', 'fd12::1', '8.8.8.8', '100.64.0.1'])
    assert.ok(to(address), address)
  for (const address of [
    '169.254.169.254',
    '::ffff:169.254.169.254',
    '100.100.100.200',
    'fd00:ec2::254',
    '168.63.129.16',
    'fe80::1',
    '0.0.0.0',
    '::',
    '224.0.0.1',
    '255.255.255.255',
    '127.0.0.1',
    '::1',
    'nonsense',
  ])
    assert.ok(!to(address), address)
  assert.ok(to('127.0.0.1', '127.0.0.1', 9_000))
  assert.ok(!to('127.0.0.1', '127.0.0.1', 8_090), 'its own listener')
})

test('an endpoint that does not answer, or whose secret cannot be decrypted, holds up no other', async () => {
  const silent = createServer(() => undefined)
  await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
  const dead = `127.0.0.1:${(silent.address() as AddressInfo).port}`
  const allowedHosts = new Set([host, dead])
  await addPushEndpoint(db, { agentId: 'agent_dead', url: `http://${dead}/`, allowedHosts }, box)
  await addPushEndpoint(db, { agentId: 'agent_lost', url, allowedHosts }, box)
  await addPushEndpoint(db, { agentId: 'agent_alive', url, allowedHosts }, box)
  const unwrap: SecretWrap['unwrap'] = (context, wrapped) => {
    if (lost.has(context)) throw new MasterKeyError('A stored ciphertext was altered.')
    return box.unwrap(context, wrapped)
  }
  const [row] = await db<
    { id: string }[]
  >`select endpoint_id as id from push_endpoint where agent_id = 'agent_lost'`
  const lost = new Set([`push endpoint/${row?.id}`])
  for (let number = 0; number < 12; number += 1) await addItem(db, { agentId: 'agent_dead' })
  for (let number = 0; number < 12; number += 1) await addItem(db, { agentId: 'agent_alive' })
  const errors: string[] = []
  const leases = await openLeaseWaiters({ db, contents })
  const worker = pushing({
    leases,
    box: { ...box, unwrap },
    allowedHosts,
    log: { error: (_fields, message) => void errors.push(message) },
  })
  await until('all items of the endpoint that answers', () => heard.length === 12)
  const [leased] = await db<{ count: number }[]>`
    select count(*)::integer as count from inbox_item where agent_id = 'agent_dead' and lease_hash is not null`
  assert.ok((leased?.count ?? 99) <= 4, 'items that wait for the silent endpoint')
  assert.match(errors[0] ?? '', /secret of a push endpoint/u)
  silent.closeAllConnections()
  silent.close()
  leases.stop()
  await worker[Symbol.asyncDispose]()
  for (const agentId of ['agent_dead', 'agent_lost', 'agent_alive']) await removePushEndpoint(db, agentId)
})

test('the listeners of another instance are refused', async () => {
  const { port } = endpoint.address() as AddressInfo
  const elsewhere = (address: string) =>
    isPushAddress(
      address,
      { hostname: 'erp.example', port: 8090 },
      {
        ownPorts: new Set(),
        instances: [{ addresses: ['10.0.0.7'], ports: [8090, 8092] }],
      },
    )
  assert.ok(!elsewhere('10.0.0.7'))
  assert.ok(!elsewhere('::ffff:10.0.0.7'))
  assert.ok(elsewhere('10.0.0.8'))
  await using reporting = reportInstance(db, () => ({ current: new Uint8Array(32) }), [port])
  await reporting.task.run(AbortSignal.timeout(10_000))
  await using sender = createPushSender({
    allowedHosts: new Set([host]),
    ownPorts: new Set(),
    listInstances: () => listListeners(db),
  })
  const { outcome } = await sender.send(url, {}, '{}')
  assert.equal(outcome, 'failed')
  assert.equal(heard.length, 0)
})

test('a redirect is a failure, and what the endpoint says is not kept', async () => {
  status = 302
  await using sender = createPushSender({ allowedHosts: new Set([host]), ownPorts: new Set() })
  assert.deepEqual(await sender.send(url, {}, '{}'), {
    outcome: 'failed',
    reason: 'The endpoint answered 302.',
  })
  assert.equal(heard.length, 1)
})
