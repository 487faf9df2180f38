import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, before, beforeEach, suite, test } from 'node:test'
import { inspect } from 'node:util'
import { sha256Digest } from '@agent-exchange/crypto'
import { ConnectorError } from '../connector-error.ts'
import { offer, rejectsWith } from '../contract-suite.fixture.ts'
import { startDataAddressServer } from '../data-address-server.ts'
import { simulatedPair, type SimulatedPair } from '../simulated-pair.fixture.ts'
import { EdcV3Connector } from './edc-v3-connector.ts'

suite('the management API under stress', () => {
  let pair: SimulatedPair
  before(async () => {
    pair = await simulatedPair()
  })
  beforeEach(() => {
    pair.acme.faults = {}
    pair.bolt.faults = {}
  })
  after(() => pair[Symbol.asyncDispose]())

  const LOST = [
    ['POST', /\/contractnegotiations$/u],
    ['POST', /\/transferprocesses$/u],
    ['POST', /\/contractnegotiations\/request$/u],
    ['GET', /\/contractnegotiations\/[\w-]+$/u],
    ['POST', /\/catalog\/dataset\/request$/u],
  ] as const
  for (const [method, path] of LOST)
    test(`an answer to ${method} ${path.source} that is lost makes no duplicate`, async () => {
      const { bytes, request } = await offer(pair)
      pair.bolt.faults = { loseAnswer: { method, path, times: 2 } }
      const acquisition = await pair.recipient.acquire(request)
      assert.deepEqual(Buffer.from(await pair.recipient.fetch(acquisition)), bytes)
      assert.deepEqual(await pair.count(request.assetId), { assets: 1, negotiations: 1, transfers: 1 })
    })

  for (const kind of ['assets', 'policydefinitions', 'contractdefinitions'])
    test(`an answer to the creation of ${kind} that is lost makes no duplicate and no conflict`, async () => {
      pair.acme.faults = { loseAnswer: { method: 'POST', path: new RegExp(`/${kind}$`, 'u'), times: 1 } }
      const { request } = await offer(pair)
      assert.equal((await pair.count(request.assetId)).assets, 1)
    })

  test('503 and cut connections are waited out', async () => {
    const { request } = await offer(pair)
    pair.bolt.faults = { busy: 3 }
    await pair.recipient.acquire(request)
    pair.bolt.faults = { cut: 2 }
    await pair.recipient.acquire(request)
    assert.deepEqual(await pair.count(request.assetId), { assets: 1, negotiations: 1, transfers: 1 })
    pair.bolt.faults = { busy: 99 }
    const busy = await rejectsWith('unreachable', pair.recipient.acquire(request))
    assert.equal(busy.httpStatus, 503)
  })

  test('a connector that is down in the middle of a wait is no news, only the deadline ends it', async () => {
    const { bytes, request } = await offer(pair)
    const onProgress = ({ step }: { step: string }) => {
      if (step === 'negotiation_state') pair.bolt.faults.busy ??= 15
    }
    const acquisition = await pair.recipient.acquire(request, { onProgress })
    assert.deepEqual(Buffer.from(await pair.recipient.fetch(acquisition)), bytes)
  })

  test('a wrong key is unauthorized, and no error shows a key', async () => {
    const secret = 'a-secret-that-nobody-may-see'
    const { request } = await offer(pair)
    const wrong = pair.connector(pair.bolt, { auth: { apiKey: secret } })
    const refused = await rejectsWith('unauthorized', wrong.acquire(request))
    assert.ok(!inspect(refused, { depth: 9, showHidden: true }).includes(secret))
    await rejectsWith(
      'unauthorized',
      pair.connector(pair.bolt, { auth: { header: 'x-other', value: secret } }).acquire(request),
    )
  })

  test('the key may use another header and be requested each time', async () => {
    const { request } = await offer(pair)
    let asked = 0
    const value = async () => {
      asked++
      return pair.bolt.apiKey
    }
    await pair.connector(pair.bolt, { auth: { header: 'X-Api-Key', value } }).acquire(request)
    assert.ok(asked > 3)
  })

  test('answers that no connector gives are bad_answer: no JSON, another shape, too much', async () => {
    const { request } = await offer(pair)
    for (const body of ['<html>Welcome</html>', '"text"', '[{"state":"FINALIZED"}]', '{"@id":"x"}']) {
      pair.bolt.faults = { managementAnswer: { status: 200, body } }
      await rejectsWith('bad_answer', pair.recipient.acquire(request))
    }
    pair.bolt.faults = { managementAnswer: { status: 200, body: `"${'x'.repeat(2_100_000)}"` } }
    await rejectsWith('too_large', pair.recipient.acquire(request))
    pair.bolt.faults = { managementAnswer: { status: 400, body: '<html>Bad Request</html>' } }
    assert.equal((await rejectsWith('bad_answer', pair.recipient.acquire(request))).httpStatus, 400)
  })

  test('a redirect is not followed, neither with the key nor with the token', async () => {
    let visits = 0
    const trap = createServer((_, outgoing) => {
      visits++
      outgoing.end('[]')
    })
    await new Promise<void>((resolve) => trap.listen(0, '127.0.0.1', resolve))
    const location = `http://127.0.0.1:${(trap.address() as AddressInfo).port}/`
    const { request } = await offer(pair)
    const acquisition = await pair.recipient.acquire(request)
    pair.bolt.faults = { managementAnswer: { status: 307, body: '', location } }
    await rejectsWith('bad_answer', pair.recipient.acquire(request))
    pair.bolt.faults = {}
    pair.acme.faults = { dataPlaneStatus: { status: 302, times: 1, location } }
    await rejectsWith('bad_answer', pair.recipient.fetch(acquisition))
    trap.closeAllConnections()
    trap.close()
    assert.equal(visits, 0)
  })

  test('a data plane in the clear or on the recipient’s own machine is not called', async () => {
    const { request } = await offer(pair)
    pair.acme.faults = { dataPlaneAddress: 'http://plane.example/public' }
    await rejectsWith('bad_answer', pair.recipient.fetch(await pair.recipient.acquire(request)))
    const second = await offer(pair)
    pair.acme.faults = {}
    const guarded = pair.connector(pair.bolt, { allowPrivateDataPlanes: false })
    const refused = await rejectsWith('bad_answer', guarded.fetch(await guarded.acquire(second.request)))
    assert.match(refused.message, /public https address/u)
  })

  test('addresses must be https, except on loopback, and hold no user information', () => {
    const options = { connectorId: 'c', participantId: 'p', auth: { apiKey: 'k' } }
    const invalid = (error: unknown) => error instanceof ConnectorError && error.code === 'invalid_input'
    for (const managementUrl of [
      'http://edc.example/m',
      'http://10.0.0.1/',
      'ftp://127.0.0.1/',
      'https://u:p@edc.example/',
      'x',
    ])
      assert.throws(() => new EdcV3Connector({ ...options, managementUrl }), invalid)
    for (const managementUrl of [
      'https://edc.example/m',
      'http://127.0.0.1:1/',
      'http://[::1]:1/',
      'http://localhost/',
    ])
      assert.ok(new EdcV3Connector({ ...options, managementUrl }))
    assert.throws(
      () =>
        new EdcV3Connector({ ...options, managementUrl: 'https://e/', auth: { header: 'a b', value: 'x' } }),
      invalid,
    )
  })

  test('a recipient has no data address and publishes nothing', async () => {
    const { participantId, managementUrl, apiKey } = pair.bolt
    const recipient = new EdcV3Connector({ connectorId: 'c', participantId, managementUrl, auth: { apiKey } })
    const bytes = randomBytes(4)
    const request = {
      packageId: 'pkg_1',
      bytes,
      digest: await sha256Digest(bytes),
      recipientParticipantId: 'x',
    }
    await rejectsWith('invalid_input', recipient.publish(request))
    const report = await recipient.withdraw('aex-pkg_1')
    assert.equal(report.dataBlocked, false)
    assert.deepEqual(
      report.problems.map(({ step }) => step),
      ['data_address'],
    )
  })

  test('when the data address has moved, publishing again tells the connector where', async () => {
    const { packageId, bytes, request } = await offer(pair)
    await using moved = await startDataAddressServer()
    const sender = pair.connector(pair.acme, { dataAddress: moved })
    const recipientParticipantId = pair.recipient.participantId
    const again = { packageId, bytes, digest: await sha256Digest(bytes), recipientParticipantId }
    assert.equal((await sender.publish(again)).created, false)
    assert.equal(
      pair.acme.state.assets.get(request.assetId)?.dataAddress['baseUrl'],
      `${moved.url}/assets/${request.assetId}`,
    )
    assert.deepEqual(Buffer.from(await pair.recipient.fetch(await pair.recipient.acquire(request))), bytes)
  })

  test('a connector that cannot evaluate the condition refuses, and the error says what to do', async () => {
    pair.acme.faults = { refusesPolicies: true }
    const refused = await rejectsWith('unsupported_policy', offer(pair))
    assert.match(refused.hint, /accessCondition/u)
  })

  test('a catalog tells nobody the package, its digest or its recipient', async () => {
    const { packageId, request } = await offer(pair)
    const answer = await fetch(`${pair.bolt.managementUrl}/v3/catalog/dataset/request`, {
      method: 'POST',
      headers: { 'x-api-key': pair.bolt.apiKey },
      body: JSON.stringify({ '@id': request.assetId, counterPartyAddress: pair.acme.protocolEndpoint }),
    })
    const {
      '@id': _,
      'odrl:hasPolicy': policy,
      id: __,
      ...said
    } = (await answer.json()) as Record<string, unknown>
    assert.ok(policy)
    assert.ok(!JSON.stringify(said).includes('sha-256') && !JSON.stringify(said).includes(packageId))
  })

  test('[PKG-10] a withdrawal that the connector cannot follow blocks the data and says what is left', async () => {
    const { request } = await offer(pair)
    const acquisition = await pair.recipient.acquire(request)
    pair.acme.faults = { managementAnswer: { status: 400, body: '[]' } }
    const partial = await pair.sender.withdraw(request.assetId)
    assert.equal(partial.dataBlocked, true)
    assert.deepEqual([partial.offerRemoved, partial.assetDeleted, partial.endedTransfers], [false, false, []])
    assert.deepEqual(
      partial.problems.map(({ step }) => step),
      ['offer', 'negotiations', 'transfers', 'asset'],
    )
    pair.acme.faults = {}
    await rejectsWith('withdrawn', pair.recipient.fetch(acquisition))
    const rest = await pair.sender.withdraw(request.assetId)
    assert.deepEqual([rest.offerRemoved, rest.problems], [true, []])
    assert.equal(rest.endedTransfers.length, 1)
    await rejectsWith('aborted', pair.sender.withdraw(request.assetId, { signal: AbortSignal.abort() }))
  })
})

test('expired tokens are refreshed once, however many ask at the same time', async () => {
  await using pair = await simulatedPair({ tokenLifetimeMs: 300_000 })
  const { bytes, request } = await offer(pair)
  const acquisition = await pair.recipient.acquire(request)
  assert.deepEqual(Buffer.from(await pair.recipient.fetch(acquisition)), bytes)
  assert.equal(pair.acme.state.refreshes, 0)
  await pair.clock.advance(301_000)
  const received = await Promise.all(Array.from({ length: 6 }, () => pair.recipient.fetch(acquisition)))
  for (const one of received) assert.deepEqual(Buffer.from(one), bytes)
  assert.equal(pair.acme.state.refreshes, 1)
  assert.equal((await pair.count(request.assetId)).transfers, 1)
})
