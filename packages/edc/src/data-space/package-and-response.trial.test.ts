import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startWorld } from '@agent-exchange/testkit'
import { startSimulator } from '@agent-exchange/edc-simulator'
import { createMemoryOutbox, type DataSpace, ExchangeError, type Outbox } from '@agent-exchange/sdk'
import { startAgent, type TestAgent } from '../../../sdk/src/agents.fixture.ts'
import { startDataAddressServer } from '../data-address-server.ts'
import { EdcV3Connector } from '../edc-v3/edc-v3-connector.ts'
import { randomId } from '../../../sdk/src/connection/random-id.ts'
import { createContext } from '../../../sdk/src/create-context.ts'
import { openPackage } from '../../../sdk/src/open/open-package.ts'
import { respondToPackage } from '../../../sdk/src/send/respond-to-package.ts'
import { resumeOutbox } from '../../../sdk/src/send/resume-outbox.ts'
import { revokePackage } from '../../../sdk/src/send/revoke-package.ts'
import { sendPackage } from '../../../sdk/src/send/send-package.ts'
import { behindLiar } from '../../../sdk/src/send/crafted.fixture.ts'
import {
  inputFor,
  policyFor,
  responseFor,
  SECRET_WORDS,
  SKILL,
} from '../../../sdk/src/send/drafts.fixture.ts'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const simulator = await startSimulator({
  participants: [{ participantId: 'BPNL-acme' }, { participantId: 'BPNL-bolt' }],
  stepMs: 10,
})
after(() => simulator.close())
const REASON = { reasonCode: 'superseded', reasonDetail: 'A newer one follows.' }

interface Company {
  readonly agent: TestAgent
  readonly dataSpace: DataSpace
  readonly outbox: Outbox
}

const participants = new Map<string, { participantId: string; protocolEndpoint: string }>()

/** A company with an agent, and with a connector in the simulated data space that the operator may approve. */
async function company(name: 'acme' | 'bolt', isApproved: boolean): Promise<Company> {
  const agent = await startAgent(world, name)
  const { managementUrl, apiKey, protocolEndpoint, participantId } = simulator.participant(`BPNL-${name}`)
  const dataAddress = await startDataAddressServer()
  after(() => dataAddress.close())
  const connector = new EdcV3Connector({
    connectorId: randomId('connector'),
    participantId,
    managementUrl,
    auth: { apiKey },
    dataAddress,
    allowPrivateDataPlanes: true,
  })
  const { organizationId } = agent.identity
  participants.set(organizationId, { participantId, protocolEndpoint })
  if (isApproved) await setConnector(organizationId, connector.connectorId, participantId)
  const dataSpace = { connector, participant: async (id: string) => participants.get(id) }
  return { agent, dataSpace, outbox: createMemoryOutbox() }
}

async function setConnector(organizationId: string, connectorId: string, participantId: string) {
  const answer = await world.operate('POST', '/connectors', {
    organization_id: organizationId,
    connector_id: connectorId,
    participant_id: participantId,
    endpoint: 'https://connector.example/protocol',
  })
  assert.equal(answer.status, 201, JSON.stringify(answer.body))
}

const [acme, bolt] = [await company('acme', true), await company('bolt', true)]
const sending = (change = {}) => inputFor(acme.agent, bolt.agent, change)
const open = (packageId: string, by: Company = bolt) =>
  openPackage(by.agent, packageId, { dataSpace: by.dataSpace })

const codeIs = (code: string) => (error: unknown) => {
  assert.ok(error instanceof ExchangeError, String(error))
  assert.equal(error.code, code, error.message)
  return true
}

async function receiptStates(packageId: string): Promise<string[]> {
  const { receipts } = await acme.agent.connection.call('getPackageAuditEvidence', {
    path: { package_id: packageId },
  })
  return receipts.map(({ state }) => state)
}

test('[PKG-03][PKG-05] package and response travel through connectors, and the exchange keeps references only', async () => {
  const steps: string[] = []
  const sent = await sendPackage(acme.agent, sending(), {
    ...acme,
    onProgress: ({ step }) => steps.push(step),
  })
  assert.deepEqual(steps, ['validated', 'checked', 'sealed', 'receipt_accepted', 'published', 'accepted'])
  assert.equal(sent.metadata.transport_mode, 'ds_x')
  const opened = await open(sent.packageId)
  assert.equal(opened.object.id, sent.packageId)
  const answer = await respondToPackage(
    bolt.agent,
    sent.packageId,
    { object: responseFor(bolt.agent, sent), policy: policyFor(bolt.agent, acme.agent), skill: SKILL },
    bolt,
  )
  assert.equal(answer.metadata.transport_mode, 'ds_x')
  assert.equal((await open(answer.packageId, acme)).object.object_type, 'response_object')
  const [row] = await world.sql`select count(*)::int as stored from package_content
    where package_id in (${sent.packageId}, ${answer.packageId})`
  assert.equal(row?.['stored'], 0)
  assert.ok(!world.logged.join('\n').includes(SECRET_WORDS))
  const running = [...simulator.participant('BPNL-bolt').state.transfers.values()].filter(
    ({ state }) => state === 'STARTED',
  )
  assert.deepEqual(running, [])
})

test('[PKG-03] a sender reads again what it sent, from its outbox', async () => {
  const sent = await sendPackage(acme.agent, sending(), acme)
  const own = await openPackage(acme.agent, sent.packageId, { outbox: acme.outbox })
  assert.equal(own.object.id, sent.packageId)
  await assert.rejects(openPackage(acme.agent, sent.packageId), codeIs('content_unavailable'))
})

test('[PKG-05] a wrong guess at the transport is mended with the same seal and the same receipt', async () => {
  const [plain, outbox] = [await startAgent(world, 'plain'), createMemoryOutbox()]
  participants.set(plain.identity.organizationId, {
    participantId: 'BPNL-bolt',
    protocolEndpoint: 'http://127.0.0.1:9/',
  })
  const steps: string[] = []
  const sent = await sendPackage(acme.agent, inputFor(acme.agent, plain), {
    ...acme,
    outbox,
    onProgress: ({ step }) => steps.push(step),
  })
  assert.equal(sent.metadata.transport_mode, 'native')
  assert.deepEqual(steps.slice(2), [
    'sealed',
    'receipt_accepted',
    'published',
    'receipt_accepted',
    'accepted',
  ])
  assert.equal((await openPackage(plain, sent.packageId)).object.id, sent.packageId)
  const receipts = await world.sql`select from policy_receipt where package_id = ${sent.packageId}`
  assert.equal(receipts.length, 1)
  // The other way round: nothing was known of the recipient's connector at first.
  let asked = 0
  const later: DataSpace = {
    ...acme.dataSpace,
    participant: async (id) => (asked++ === 0 ? undefined : participants.get(id)),
  }
  const other = await sendPackage(acme.agent, sending(), { outbox, dataSpace: later })
  assert.equal(other.metadata.transport_mode, 'ds_x')
  assert.equal((await open(other.packageId)).object.id, other.packageId)
})

test('[PKG-05] without a connector the package waits, and goes once there is one', async () => {
  const outbox = createMemoryOutbox()
  const input = sending()
  await assert.rejects(sendPackage(acme.agent, input, { outbox }), codeIs('connector_missing'))
  const { packages } = await resumeOutbox(acme.agent, { outbox, dataSpace: acme.dataSpace })
  assert.deepEqual(packages, [{ packageId: input.object.id, outcome: 'accepted' }])
  await assert.rejects(openPackage(bolt.agent, input.object.id), codeIs('connector_missing'))
  assert.deepEqual(await receiptStates(input.object.id), ['failed'])
  await open(input.object.id)
})

const FAULTS = {
  'a flipped byte': { kind: 'flip', at: 40 },
  'a missing byte': { kind: 'drop', count: 1 },
  'an extra byte': { kind: 'add', count: 1 },
} as const

for (const [name, bytes] of Object.entries(FAULTS)) {
  test(`[PKG-03] ${name} is rejected before anything of it is read`, async () => {
    const sent = await sendPackage(acme.agent, sending(), acme)
    const sender = simulator.participant('BPNL-acme')
    sender.faults = { bytes }
    await assert.rejects(open(sent.packageId), (error: unknown) => {
      codeIs('digest_mismatch')(error)
      assert.equal((error as ExchangeError).details['member'], 'asset_digest')
      return true
    })
    sender.faults = {}
    assert.deepEqual(await receiptStates(sent.packageId), ['rejected'])
    await open(sent.packageId)
  })
}

test('[PKG-03] another asset of the same sender in its place is rejected', async () => {
  const [one, two] = [
    await sendPackage(acme.agent, sending(), acme),
    await sendPackage(acme.agent, sending(), acme),
  ]
  const { edc } = await acme.agent.connection.call('getPackage', { path: { package_id: two.packageId } })
  const sender = simulator.participant('BPNL-acme')
  sender.faults = { bytes: { kind: 'swap', assetId: edc?.asset_id ?? '' } }
  await assert.rejects(open(one.packageId), codeIs('digest_mismatch'))
  sender.faults = {}
})

test('[PKG-03] a connection that breaks says nothing about the package', async () => {
  const sent = await sendPackage(acme.agent, sending(), acme)
  const sender = simulator.participant('BPNL-acme')
  sender.faults = { bytes: { kind: 'truncate', after: 10 } }
  await assert.rejects(open(sent.packageId), (error: unknown) => {
    codeIs('connector_failed')(error)
    return (error as ExchangeError).retryable
  })
  sender.faults = {}
  assert.deepEqual(await receiptStates(sent.packageId), [])
  await open(sent.packageId)
})

test('[PKG-03] an exchange that shows other references is caught by the manifest', async () => {
  const [one, two] = [
    await sendPackage(acme.agent, sending(), acme),
    await sendPackage(acme.agent, sending(), acme),
  ]
  const other = await acme.agent.connection.call('getPackage', { path: { package_id: two.packageId } })
  const lies = [
    { edc: other.edc },
    { edc: other.edc, sender_signature: other.sender_signature },
    { sender_signature: undefined },
  ]
  for (const lie of lies) {
    const liar = behindLiar(bolt.agent, /^\/v1\/packages\/[^/]+$/, (text) =>
      JSON.stringify({ ...(JSON.parse(text) as object), ...lie }),
    )
    const opening = openPackage(liar, one.packageId, { dataSpace: bolt.dataSpace })
    await assert.rejects(opening, codeIs('signature_invalid'))
  }
})

test('[PKG-10][O-24] without references, after a revocation or by the choice of the exchange, the error says why', async () => {
  const { packageId } = await sendPackage(acme.agent, sending(), acme)
  const opened = (lie: object) => {
    const shown = behindLiar(bolt.agent, /^\/v1\/packages\/[^/]+$/, (text) =>
      JSON.stringify({
        ...(JSON.parse(text) as object),
        edc: undefined,
        sender_signature: undefined,
        ...lie,
      }),
    )
    return openPackage(shown, packageId, { dataSpace: bolt.dataSpace })
  }
  const unavailable = (reason: string) => (error: unknown) => {
    codeIs('content_unavailable')(error)
    assert.equal((error as ExchangeError).details['reason'], reason)
    return true
  }
  await assert.rejects(opened({}), unavailable('no_references'))
  await assert.rejects(opened({ state: 'revoked' }), unavailable('revoked'))
  assert.deepEqual(await receiptStates(packageId), [])
})

const CRASHES = ['advance to receipt_accepted', 'publish', 'advance to published', 'advance to accepted']

for (const point of CRASHES) {
  for (const when of ['before', 'after'] as const) {
    test(`[API-04][PKG-03] a crash ${when} "${point}" leaves one package and one asset`, async () => {
      const outbox = createMemoryOutbox()
      const input = sending()
      const at = async <T>(name: string, work: () => Promise<T>): Promise<T> => {
        if (name === point && when === 'before') throw new Error('killed')
        const result = await work()
        if (name === point) throw new Error('killed')
        return result
      }
      const dying: Outbox = {
        ...outbox,
        advance: (entry, change) => at(`advance to ${change.state}`, () => outbox.advance(entry, change)),
      }
      const { connector } = acme.dataSpace
      const publish: typeof connector.publish = (request, options) =>
        at('publish', () => connector.publish(request, options))
      const dataSpace = {
        ...acme.dataSpace,
        connector: Object.assign(Object.create(connector) as typeof connector, { publish }),
      }
      await assert.rejects(sendPackage(acme.agent, input, { outbox: dying, dataSpace }), /killed/)
      await resumeOutbox(createContext(acme.agent.options), { outbox, dataSpace: acme.dataSpace })
      assert.equal((await outbox.read(input.object.id))?.state, 'accepted')
      const assets = [...simulator.participant('BPNL-acme').state.assets.keys()]
      assert.equal(assets.filter((id) => id.includes(input.object.id)).length, 1)
      await open(input.object.id)
    })
  }
}

test('[PKG-10] revocation blocks the data address, in one go or resumed, and says what it could not', async () => {
  const sent = await sendPackage(acme.agent, sending(), acme)
  const alone = await revokePackage(acme.agent, sent.packageId, REASON)
  assert.equal(alone.futureAccessBlocked, false)
  assert.equal(alone.withdrawalError?.code, 'connector_missing')
  const whole = await revokePackage(acme.agent, sent.packageId, REASON, acme)
  assert.equal(whole.alreadyRevoked, true)
  assert.deepEqual(whole.revocation, alone.revocation)
  assert.equal(whole.revocation.future_access_blocked, false)
  assert.equal(whole.futureAccessBlocked, true)
  assert.deepEqual(whole.withdrawal?.problems, [])
  const shown = await bolt.agent.connection.call('getPackage', { path: { package_id: sent.packageId } })
  assert.deepEqual([shown.edc, shown.sender_signature], [undefined, undefined])
  await assert.rejects(open(sent.packageId), (error: unknown) => {
    codeIs('content_unavailable')(error)
    return (error as ExchangeError).details['reason'] === 'revoked'
  })
})

test('[PKG-10] a holder of an agreement finds nothing any more', async () => {
  const sent = await sendPackage(acme.agent, sending(), acme)
  const { edc } = await bolt.agent.connection.call('getPackage', { path: { package_id: sent.packageId } })
  const counterParty = participants.get(acme.agent.identity.organizationId)
  assert.ok(edc && counterParty)
  const request = { packageId: sent.packageId, assetId: edc.asset_id, counterParty }
  const acquisition = await bolt.dataSpace.connector.acquire(request)
  const revoked = await revokePackage(acme.agent, sent.packageId, REASON, acme)
  assert.equal(revoked.futureAccessBlocked, true)
  assert.deepEqual(revoked.withdrawal?.agreedWith, ['BPNL-bolt'])
  await assert.rejects(bolt.dataSpace.connector.fetch(acquisition))
})

test('[PKG-05] a connection suspended in the middle refuses new packages, and nothing stays offered', async () => {
  const carl = await company('acme', true)
  const input = (threadId: string) => inputFor(carl.agent, bolt.agent, { thread_id: threadId })
  const threadId = randomId('thread')
  await sendPackage(carl.agent, input(threadId), carl)
  const { connectorId } = carl.dataSpace.connector
  const suspended = await world.operate(
    'POST',
    `/organizations/${carl.agent.identity.organizationId}/connectors/${connectorId}/suspend`,
    { reason: 'a test' },
  )
  assert.ok(suspended.status < 300, JSON.stringify(suspended.body))
  const next = input(threadId)
  await assert.rejects(sendPackage(carl.agent, next, carl), (error: unknown) => {
    codeIs('exchange_refused')(error)
    assert.equal((error as ExchangeError).problem?.code, 'connector_not_approved')
    return true
  })
  assert.equal((await carl.outbox.read(next.object.id))?.state, 'refused')
  const assets = [...simulator.participant('BPNL-acme').state.assets.keys()]
  assert.equal(assets.filter((id) => id.includes(next.object.id)).length, 0)
})
