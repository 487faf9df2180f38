import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { offer } from '../../edc/src/contract-suite.fixture.ts'
import { assetIdOf, offerIdOf, policyIdOf } from '../../edc/src/derived-ids.ts'
import { simulatedPair } from '../../edc/src/simulated-pair.fixture.ts'
import { MovableClock, startSimulator, type SimulatedParticipant } from './index.ts'

async function call(
  { managementUrl, apiKey }: SimulatedParticipant,
  method: string,
  path: string,
  body?: unknown,
) {
  const init = {
    method,
    headers: { 'x-api-key': apiKey },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }
  const answer = await fetch(`${managementUrl}/v3${path}`, init)
  return { status: answer.status, text: await answer.text() }
}

test('time moves when it is moved, and a pulled transfer never completes', async () => {
  await using pair = await simulatedPair()
  const { request } = await offer(pair)
  const acquisition = await pair.recipient.acquire(request)
  await pair.clock.advance(600_000)
  assert.equal((await pair.recipient.status(acquisition)).state, 'STARTED')
  const { counterPartyTransferProcessId: transferProcessId = '' } = acquisition
  assert.equal((await pair.sender.status({ transferProcessId })).state, 'STARTED')
})

test('what is agreed on cannot be deleted; taking back the offer does not stop who agreed', async () => {
  await using pair = await simulatedPair()
  const { bytes, packageId, request } = await offer(pair)
  const assetId = assetIdOf(packageId)
  const acquisition = await pair.recipient.acquire(request)
  assert.equal((await call(pair.acme, 'DELETE', `/assets/${assetId}`)).status, 409)
  assert.equal((await call(pair.acme, 'DELETE', `/policydefinitions/${policyIdOf(assetId)}`)).status, 409)
  assert.equal((await call(pair.acme, 'DELETE', `/contractdefinitions/${offerIdOf(assetId)}`)).status, 204)
  assert.equal((await call(pair.acme, 'DELETE', `/contractdefinitions/${offerIdOf(assetId)}`)).status, 404)
  await pair.recipient.finish(acquisition)
  assert.deepEqual(Buffer.from(await pair.recipient.fetch(acquisition)), bytes)
})

test('the management API wants its key, known fields and whole objects', async () => {
  await using pair = await simulatedPair()
  assert.equal((await call({ ...pair.acme, apiKey: 'wrong' }, 'GET', '/assets/x')).status, 401)
  assert.equal((await call(pair.acme, 'POST', '/assets', { '@id': 'x' })).status, 400)
  const filterExpression = [{ operandLeft: 'constructor', operator: '=', operandRight: 'x' }]
  assert.equal(
    (await call(pair.acme, 'POST', '/contractnegotiations/request', { filterExpression })).status,
    400,
  )
  assert.equal((await call(pair.acme, 'POST', '/transferprocesses', { contractId: 'none' })).status, 400)
  assert.equal((await call(pair.acme, 'POST', '/transferprocesses/none/terminate', {})).status, 404)
  assert.equal(
    (await call(pair.acme, 'PUT', '/assets', { '@id': 'x', dataAddress: { type: 'HttpData' } })).status,
    404,
  )
  assert.equal((await call(pair.acme, 'GET', '/nothing')).status, 404)
})

test('no participant can speak for another, and a guessed token opens nothing', async () => {
  await using pair = await simulatedPair()
  const { request } = await offer(pair)
  const { protocolEndpoint } = pair.acme
  for (const proof of ['', 'guess', randomBytes(32).toString('base64url')]) {
    const headers = { 'x-participant': pair.bolt.participantId, 'x-proof': proof }
    const answer = await fetch(`${protocolEndpoint}/catalog/datasets/${request.assetId}`, {
      method: 'POST',
      headers,
      body: '{}',
    })
    assert.equal(answer.status, 401)
  }
  await pair.recipient.acquire(request)
  const plane = protocolEndpoint.replace('/protocol', '/public')
  assert.equal(
    (await fetch(plane, { headers: { authorization: randomBytes(32).toString('base64url') } })).status,
    403,
  )
})

test('a third participant is not offered what is for another', async () => {
  const clock = new MovableClock()
  const participants = ['a', 'b', 'c'].map((participantId) => ({ participantId }))
  await using simulator = await startSimulator({ participants, clock })
  const [a, b, c] = ['a', 'b', 'c'].map((id) => simulator.participant(id)) as [
    SimulatedParticipant,
    SimulatedParticipant,
    SimulatedParticipant,
  ]
  const constraint = { leftOperand: 'participantId', operator: 'eq', rightOperand: 'b' }
  await call(a, 'POST', '/assets', {
    '@id': 'x',
    dataAddress: { type: 'HttpData', baseUrl: 'http://127.0.0.1:9' },
  })
  await call(a, 'POST', '/policydefinitions', {
    '@id': 'p',
    policy: { permission: [{ action: 'use', constraint }] },
  })
  await call(a, 'POST', '/contractdefinitions', {
    accessPolicyId: 'p',
    contractPolicyId: 'p',
    assetsSelector: [],
  })
  const ask = { '@id': 'x', counterPartyAddress: a.protocolEndpoint }
  assert.equal((await call(b, 'POST', '/catalog/dataset/request', ask)).status, 200)
  assert.match((await call(c, 'POST', '/catalog/dataset/request', ask)).text, /404/u)
  assert.throws(() => simulator.participant('d'), /no participant/u)
})
