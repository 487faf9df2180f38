import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { until } from '@agent-exchange/testkit/until'
import { EdcConnectorClient, PolicyBuilder } from '@think-it-labs/edc-connector-client'
import { startDataAddressServer } from '../../edc/src/data-address-server.ts'
import { startSimulator, type SimulatedParticipant } from './index.ts'

/** A client that others wrote for real connectors, unchanged: what it understands, the simulator says as EDC does. */
function client({ apiKey, managementUrl }: SimulatedParticipant): EdcConnectorClient {
  return new EdcConnectorClient.Builder().apiToken(apiKey).managementUrl(managementUrl).build()
}

test('an independent client goes the whole way through the simulator', async () => {
  const participants = [{ participantId: 'BPNL-acme' }, { participantId: 'BPNL-bolt' }]
  await using simulator = await startSimulator({ participants, stepMs: 5 })
  await using dataAddress = await startDataAddressServer()
  const [acme, bolt] = [simulator.participant('BPNL-acme'), simulator.participant('BPNL-bolt')]
  const [{ management: sender }, { management: recipient }] = [client(acme), client(bolt)]
  const bytes = randomBytes(1_000)
  const { url: baseUrl, headerName: authKey, headerValue: authCode } = await dataAddress.put('a1', bytes)

  const asset = {
    '@id': 'a1',
    properties: { name: 'a name' },
    dataAddress: { type: 'HttpData', baseUrl, authKey, authCode },
  }
  assert.equal((await sender.assets.create(asset)).id, 'a1')
  await assert.rejects(sender.assets.create(asset), { type: 'Duplicate' })
  const known = await sender.assets.get('a1')
  assert.equal(known.properties.mandatoryValue('edc', 'name'), 'a name')
  assert.equal((await sender.assets.queryAll()).length, 1)

  const permission = {
    action: 'use',
    constraint: { leftOperand: 'BusinessPartnerNumber', operator: 'eq', rightOperand: bolt.participantId },
  }
  const policy = new PolicyBuilder()
    .type('Set')
    .raw({ permission: [permission] })
    .build()
  await sender.policyDefinitions.create({ '@id': 'p1', policy })
  await sender.contractDefinitions.create({
    '@id': 'c1',
    accessPolicyId: 'p1',
    contractPolicyId: 'p1',
    assetsSelector: [{ operandLeft: 'https://w3id.org/edc/v0.0.1/ns/id', operator: '=', operandRight: 'a1' }],
  })
  assert.equal((await sender.contractDefinitions.get('c1')).accessPolicyId, 'p1')

  const counterParty = { counterPartyAddress: acme.protocolEndpoint, counterPartyId: acme.participantId }
  const catalog = await recipient.catalog.request(counterParty)
  assert.equal(catalog.participantId, acme.participantId)
  assert.deepEqual(
    catalog.datasets.map(({ id }) => id),
    ['a1'],
  )
  const dataset = await recipient.catalog.requestDataset({ '@id': 'a1', ...counterParty })
  const [offer] = dataset.offers
  assert.ok(offer)
  await assert.rejects(recipient.catalog.requestDataset({ '@id': 'none', ...counterParty }), {
    type: 'BadGateway',
  })

  const named = { assigner: acme.participantId, target: 'a1' }
  const offered = new PolicyBuilder().raw(offer).raw(named).build()
  const { id: negotiationId } = await recipient.contractNegotiations.initiate({
    ...counterParty,
    policy: offered,
  })
  const negotiation = await until('the negotiation ends', async () => {
    const found = await recipient.contractNegotiations.get(negotiationId)
    return (found.state === 'FINALIZED' || found.state === 'TERMINATED') && found
  })
  assert.equal((await recipient.contractNegotiations.getState(negotiationId)).state, 'FINALIZED')
  const agreement = await recipient.contractNegotiations.getAgreement(negotiationId)
  assert.deepEqual(
    [agreement.assetId, agreement.providerId, agreement.consumerId, agreement.id],
    ['a1', acme.participantId, bolt.participantId, negotiation.contractAgreementId],
  )
  assert.equal((await sender.contractAgreements.queryAll()).length, 1)
  await assert.rejects(sender.assets.delete('a1'), { type: 'Duplicate' })

  const { id: transferId } = await recipient.transferProcesses.initiate({
    ...counterParty,
    assetId: 'a1',
    contractId: negotiation.contractAgreementId,
    transferType: 'HttpData-PULL',
  })
  const transfer = await until('the transfer starts', async () => {
    const found = await recipient.transferProcesses.get(transferId)
    return (found.state === 'STARTED' || found.state === 'TERMINATED') && found
  })
  assert.equal(transfer.state, 'STARTED')
  const [edr] = await recipient.edrs.request({
    filterExpression: [{ operandLeft: 'assetId', operator: '=', operandRight: 'a1' }],
  })
  assert.deepEqual([edr?.transferProcessId, edr?.agreementId], [transferId, agreement.id])
  const access = await recipient.edrs.dataAddress(transferId)
  const endpoint = access.mandatoryValue<string>('edc', 'endpoint')
  const authorization = access.mandatoryValue<string>('edc', 'authorization')
  const answer = await fetch(endpoint, { headers: { authorization } })
  assert.deepEqual(Buffer.from(await answer.arrayBuffer()), bytes)
  assert.equal((await fetch(endpoint, { headers: { authorization: `Bearer ${authorization}` } })).status, 403)
  assert.equal((await fetch(endpoint)).status, 401)

  await recipient.transferProcesses.terminate(transferId, 'received')
  await until('the transfer ends', async () => {
    const found = await recipient.transferProcesses.getState(transferId)
    return found.state === 'TERMINATED' && found
  })
  assert.equal((await fetch(endpoint, { headers: { authorization } })).status, 403)
  await assert.rejects(recipient.edrs.dataAddress(transferId), { type: 'NotFound' })
})
