import assert from 'node:assert/strict'
import { test } from 'node:test'
import { examineConnector } from './examine-connector.ts'
import { simulatedPair } from './simulated-pair.fixture.ts'

test('the doctor lists what is wrong, each with a hint, and one failure does not hide the others', async () => {
  await using pair = await simulatedPair()
  const failing = async (connector = pair.sender, options = {}) =>
    (await examineConnector(connector, { deadlineMs: 30_000, ...options })).filter(({ ok }) => !ok)
  assert.deepEqual(await failing(), [])

  const wrongKey = await failing(pair.connector(pair.acme, { auth: { apiKey: 'wrong' } }))
  assert.deepEqual(
    wrongKey.map(({ name }) => name),
    ['management_api', 'clock', 'data_plane', 'participant_id', 'dry_run'],
  )
  assert.match(wrongKey[0]?.hint ?? '', /key/u)

  const somebodyElse = await failing(pair.connector(pair.acme, { participantId: 'BPNL-other' }), {
    dryRun: false,
  })
  assert.deepEqual(
    somebodyElse.map(({ name }) => name),
    ['participant_id'],
  )
  assert.match(somebodyElse[0]?.detail ?? '', /BPNL-acme/u)

  const counterParty = { participantId: 'BPNL-bolt', protocolEndpoint: pair.acme.protocolEndpoint }
  const [confused] = await failing(pair.sender, { counterParty, dryRun: false })
  assert.equal(confused?.name, 'counterparty')
  const [unreachable] = await failing(pair.sender, {
    counterParty: { ...counterParty, protocolEndpoint: 'http://127.0.0.1:9/protocol' },
    dryRun: false,
  })
  assert.equal(unreachable?.name, 'counterparty')

  const skewed = { now: () => pair.clock.now() + 120_000, sleep: pair.clock.sleep.bind(pair.clock) }
  const late = await failing(pair.connector(pair.acme, { clock: skewed }), { dryRun: false })
  assert.deepEqual(
    late.map(({ name, detail }) => [name, detail.replace('-121', '-120')]),
    [['clock', '-120 s apart']],
  )

  pair.acme.faults = { transferHangsAt: 'STARTING' }
  const stuck = await failing()
  assert.deepEqual(
    stuck.map(({ name }) => name),
    ['dry_run'],
  )
  assert.match(stuck[0]?.detail ?? '', /Likely/u)
})

test('a dry run leaves no offer and no bytes behind', async () => {
  await using pair = await simulatedPair()
  await examineConnector(pair.sender)
  assert.equal(pair.acme.state.contractDefinitions.size, 0)
  const open = [...pair.acme.state.transfers.values()].filter(({ state }) => state === 'STARTED')
  assert.deepEqual(open, [])
  assert.equal(pair.acme.state.grantedTokens.size, 0)
})
