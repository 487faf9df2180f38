import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, afterEach, test } from 'node:test'
import { freePorts } from '@agent-exchange/testkit'
import type { AcquireRequest, Progress } from '@agent-exchange/sdk'
import { verifyCapsule } from '@agent-exchange/log'
import { openSqliteOutbox } from '@agent-exchange/sdk/node'
import type { ConnectorErrorCode } from '../connector-error.ts'
import { rejectsWith } from '../contract-suite.fixture.ts'
import { startDataAddressServer } from '../data-address-server.ts'
import { readCapsule } from '../../../sdk/src/evidence/read-capsule.ts'
import { resumeOutbox } from '../../../sdk/src/send/resume-outbox.ts'
import { revokePackage } from '../../../sdk/src/send/revoke-package.ts'
import { sendPackage } from '../../../sdk/src/send/send-package.ts'
import { inputFor } from '../../../sdk/src/send/drafts.fixture.ts'
import { failure, open, startSpace, toldTo, type Company } from './data-space.fixture.ts'
import { dyingProgram } from './dying-program.fixture.ts'

const space = await startSpace()
after(() => space[Symbol.asyncDispose]())
const [acme, bolt] = [await space.company('acme'), await space.company('bolt')]
afterEach(() => {
  for (const { edc } of [acme, bolt]) edc.faults = {}
})
const folder = mkdtempSync(join(tmpdir(), 'aex-data-space-'))
after(() => rmSync(folder, { recursive: true }))
const [port = 0] = await freePorts(1)
const kept = { folder: join(folder, 'assets'), port }
const outboxFile = join(folder, 'outbox.db')

let dataAddress = await startDataAddressServer(kept)
let outbox = openSqliteOutbox(outboxFile)
after(async () => {
  outbox.close()
  await dataAddress.close()
})
const carl = await space.company('acme', { dataAddress, outbox })

/** Carl's company after a restart: only what is on disk is left. */
async function restartCarl(): Promise<Company> {
  outbox.close()
  await dataAddress.close()
  dataAddress = await startDataAddressServer(kept)
  outbox = openSqliteOutbox(outboxFile)
  return space.restart(carl, { dataAddress, outbox })
}

const ONE = { assets: 1, offers: 1, packages: 1, policyReceipts: 1, negotiations: 1, transfers: 1 }

test('[API-04][PKG-03] killed between any two steps of sending and of opening, it stays one of everything', async () => {
  let [sender, finished] = [carl, 0]
  const deaths: string[] = []
  for (let at = 0; finished < 2; at++) {
    assert.ok(at < 40)
    finished = 0
    const input = inputFor(carl.agent, bolt.agent)
    const { id } = input.object
    const sending = dyingProgram(space, sender, at)
    const sent = sendPackage(sending.company.agent, input, sending.company).then(() => undefined)
    const end = await Promise.race([sent, sending.death])
    if (end === undefined) finished += 1
    else {
      deaths.push(end)
      sender = await restartCarl()
      // Before anything was in the outbox, nothing is known of it, and it is sent again as a whole.
      await resumeOutbox(sender.agent, sender)
      await sendPackage(sender.agent, input, sender)
    }
    const opening = dyingProgram(space, bolt, at)
    const opened = open(opening.company, id).then(() => undefined)
    const last = await Promise.race([opened, opening.death])
    if (last === undefined) finished += 1
    else {
      deaths.push(last)
      await open(space.restart(bolt), id)
    }
    // Once the first opening has ended its transfer, reading the content again takes another one.
    const transfers = last === 'transfer_ended' ? 2 : 1
    assert.deepEqual(await space.count(id), { ...ONE, transfers }, `${end} / ${last}`)
    if (at % 8 === 0) assert.deepEqual(await toldTo(carl, id), ['received', 'opened'])
  }
  for (const point of [
    'outbox add',
    'createPolicyReceipt',
    'data address put',
    'outbox published',
    'createPackageTransfer',
  ])
    for (const when of ['before', 'after']) assert.ok(deaths.includes(`${when} ${point}`), `${when} ${point}`)
  for (const point of [
    'asset_published',
    'policy_published',
    'offer_published',
    'negotiation_started',
    'agreement_reached',
    'transfer_started',
    'token_received',
    'bytes_received',
    'before createPackageReceipt',
    'after createPackageReceipt',
    'transfer_ended',
  ])
    assert.ok(deaths.includes(point), point)
})

test('[API-04][PKG-03] two programs that resume the same outbox at once make one of everything', async () => {
  const input = inputFor(carl.agent, bolt.agent)
  const sender = await restartCarl()
  const dead = new Error('dead')
  const onProgress = ({ step }: { step: string }) => {
    if (step === 'sealed') throw dead
  }
  await assert.rejects(sendPackage(sender.agent, input, { ...sender, onProgress }), dead)
  using otherOutbox = openSqliteOutbox(outboxFile)
  const other = space.restart(sender, { outbox: otherOutbox })
  await Promise.all([resumeOutbox(sender.agent, sender), resumeOutbox(other.agent, other)])
  await open(bolt, input.object.id)
  assert.deepEqual(await space.count(input.object.id), ONE)
})

const REASON = { reasonCode: 'superseded', reasonDetail: 'A newer one follows.' }

interface Offered {
  readonly packageId: string
  readonly request: AcquireRequest
}

async function offered(sender: Company = acme): Promise<Offered> {
  const { packageId } = await sendPackage(sender.agent, inputFor(sender.agent, bolt.agent), sender)
  const { edc } = await bolt.agent.connection.call('getPackage', { path: { package_id: packageId } })
  const counterParty = await bolt.dataSpace.participant(sender.agent.identity.organizationId)
  assert.ok(edc && counterParty)
  return { packageId, request: { packageId, assetId: edc.asset_id, counterParty } }
}

async function until(step: Progress['step'], { request }: Offered): Promise<void> {
  const onProgress = (progress: Progress) => {
    if (progress.step === step) throw new Error('stops here')
  }
  await assert.rejects(bolt.connector.acquire(request, { onProgress }), /stops here/u)
}

/** How far the recipient has come when the sender revokes, and what is left for it to try. */
const STAGES: readonly (readonly [
  string,
  { agreed: boolean; deleted: boolean; ended: number; leaves: ConnectorErrorCode },
  (reached: Offered) => Promise<unknown>,
])[] = [
  ['nobody has asked', { agreed: false, deleted: true, ended: 0, leaves: 'no_offer' }, async () => undefined],
  [
    'a negotiation has begun on the other side only',
    { agreed: false, deleted: true, ended: 0, leaves: 'negotiation_terminated' },
    (reached) => until('negotiation_started', reached),
  ],
  [
    'the negotiation is under way',
    { agreed: false, deleted: false, ended: 0, leaves: 'negotiation_terminated' },
    async ({ request }) => {
      acme.edc.faults = { negotiationHangsAt: 'REQUESTED' }
      await rejectsWith('negotiation_timeout', bolt.connector.acquire(request, { deadlineMs: 5_000 }))
      acme.edc.faults = {}
    },
  ],
  [
    'there is an agreement',
    { agreed: true, deleted: false, ended: 0, leaves: 'withdrawn' },
    (reached) => until('agreement_reached', reached),
  ],
  [
    'the transfer is running',
    { agreed: true, deleted: false, ended: 1, leaves: 'withdrawn' },
    ({ request }) => bolt.connector.acquire(request),
  ],
  [
    'the bytes are fetched',
    { agreed: true, deleted: false, ended: 1, leaves: 'withdrawn' },
    async ({ request }) => bolt.connector.fetch(await bolt.connector.acquire(request)),
  ],
  [
    'it is received and not opened',
    { agreed: true, deleted: false, ended: 0, leaves: 'withdrawn' },
    ({ packageId }) => open(bolt, packageId, { receipts: 'received' }),
  ],
]

for (const [name, { agreed, deleted, ended, leaves }, reach] of STAGES)
  test(`[PKG-10] revoked when ${name}: reported as it is, and nothing is to be had any more`, async () => {
    const reached = await offered()
    const { packageId, request } = reached
    await reach(reached)
    const revoked = await revokePackage(acme.agent, packageId, REASON, acme)
    const { revocation, withdrawal } = revoked
    // The exchange cannot reach into a connector, and says so; our own data address can be closed, and was.
    assert.equal(revocation.future_access_blocked, false)
    assert.equal(revoked.futureAccessBlocked, true)
    assert.ok(withdrawal)
    const { endedTransfers, ...report } = withdrawal
    assert.equal(endedTransfers.length, ended)
    assert.deepEqual(report, {
      assetId: request.assetId,
      dataBlocked: true,
      offerRemoved: true,
      assetDeleted: deleted,
      agreedWith: agreed ? [bolt.connector.participantId] : [],
      problems: [],
    })
    await failure('content_unavailable', open(bolt, packageId))
    // A recipient that does not care what the exchange says: a new transfer on the old agreement brings a 410.
    const [negotiations, eager] = [(await space.count(packageId)).negotiations, space.restart(bolt)]
    const trying = async () => eager.connector.fetch(await eager.connector.acquire(request))
    await rejectsWith(leaves, trying)
    if (agreed) assert.equal((await space.count(packageId)).negotiations, negotiations)

    const again = await revokePackage(acme.agent, packageId, REASON, acme)
    assert.deepEqual([again.alreadyRevoked, again.futureAccessBlocked], [true, true])
    assert.deepEqual(again.revocation, revocation)
    assert.deepEqual(again.withdrawal?.problems, [])
    const { capsule } = await readCapsule(bolt.agent, { packageId })
    assert.deepEqual((await verifyCapsule(capsule)).contradictions, [])
  })

test('[PKG-10] what was opened cannot be revoked, and nothing is taken back by halves', async () => {
  const { packageId } = await offered()
  await open(bolt, packageId)
  const { problem } = await failure('exchange_refused', revokePackage(acme.agent, packageId, REASON, acme))
  assert.equal(problem?.code, 'invalid_state_transition')
  const { assets, offers } = await space.count(packageId)
  assert.deepEqual({ assets, offers }, { assets: 1, offers: 1 })
})

test('[PKG-10] revoked twice at once it is one revocation', async () => {
  const { packageId } = await offered()
  const both = await Promise.all([1, 2].map(() => revokePackage(acme.agent, packageId, REASON, acme)))
  assert.deepEqual(both[0]?.revocation, both[1]?.revocation)
  assert.deepEqual(new Set(both.map(({ alreadyRevoked }) => alreadyRevoked)), new Set([true, false]))
  assert.ok(both.every(({ futureAccessBlocked }) => futureAccessBlocked))
})

test('[PKG-10] killed between any two steps, a revocation is completed by calling it again', async () => {
  let end: string | undefined = ''
  for (let at = 0; end !== undefined; at++) {
    const { packageId, request } = await offered()
    await bolt.connector.acquire(request)
    const dying = dyingProgram(space, acme, at)
    const revoking = revokePackage(dying.company.agent, packageId, REASON, dying.company)
    end = await Promise.race([revoking.then(() => undefined), dying.death])
    const { futureAccessBlocked, withdrawal, alreadyRevoked } = await revokePackage(
      acme.agent,
      packageId,
      REASON,
      acme,
    )
    assert.equal(alreadyRevoked, end !== 'before revokePackage')
    assert.deepEqual([futureAccessBlocked, withdrawal?.problems], [true, []], end)
    await rejectsWith('withdrawn', async () => bolt.connector.fetch(await bolt.connector.acquire(request)))
    const events = await space.world.sql`select from package_revocation where package_id = ${packageId}`
    assert.equal(events.length, 1)
  }
})

test('[PKG-10] with its connector out of reach the data address is closed all the same, and the rest is done later', async () => {
  const { packageId, request } = await offered()
  await bolt.connector.acquire(request)
  acme.edc.faults = { managementAnswer: { status: 503, body: '' } }
  const { futureAccessBlocked, withdrawal } = await revokePackage(acme.agent, packageId, REASON, acme)
  assert.equal(futureAccessBlocked, true)
  assert.equal(withdrawal?.offerRemoved, false)
  assert.deepEqual(
    withdrawal.problems.map(({ step, code }) => [step, code]),
    ['offer', 'negotiations', 'transfers', 'asset'].map((step) => [step, 'unreachable']),
  )
  await rejectsWith('withdrawn', async () => bolt.connector.fetch(await bolt.connector.acquire(request)))
  acme.edc.faults = {}
  const later = await revokePackage(acme.agent, packageId, REASON, acme)
  assert.deepEqual([later.withdrawal?.offerRemoved, later.withdrawal?.problems], [true, []])
})

test('[PKG-10] a data address that never had the bytes blocks nothing, and does not claim to', async () => {
  const { packageId, request } = await offered()
  const acquisition = await bolt.connector.acquire(request)
  await using elsewhere = await startDataAddressServer()
  const other = space.restart(acme, { dataAddress: elsewhere })
  for (let times = 0; times < 2; times++) {
    const { futureAccessBlocked, withdrawal } = await revokePackage(other.agent, packageId, REASON, other)
    assert.equal(futureAccessBlocked, false)
    assert.deepEqual(
      withdrawal?.problems.map(({ step }) => step),
      ['data_address'],
    )
  }
  assert.ok((await bolt.connector.fetch(acquisition)).length > 0)
  assert.equal((await revokePackage(acme.agent, packageId, REASON, acme)).futureAccessBlocked, true)
  await rejectsWith('withdrawn', bolt.connector.fetch(acquisition))
})

test('[PKG-10] a data address that could not be closed is never called blocked, whatever else worked', async () => {
  const { packageId, request } = await offered()
  const acquisition = await bolt.connector.acquire(request)
  const broken = space.restart(acme, {
    dataAddress: { ...acme.dataAddress, withdraw: () => Promise.reject(new Error('the disk is full')) },
  })
  const half = await revokePackage(broken.agent, packageId, REASON, broken)
  assert.equal(half.futureAccessBlocked, false)
  assert.equal(half.withdrawal?.offerRemoved, true)
  assert.deepEqual(
    half.withdrawal.problems.map(({ step }) => step),
    ['data_address'],
  )
  // It is as honest as that: who holds the agreement really still gets it.
  assert.ok((await bolt.connector.fetch(acquisition)).length > 0)
  assert.equal((await revokePackage(acme.agent, packageId, REASON, acme)).futureAccessBlocked, true)
  await rejectsWith('withdrawn', bolt.connector.fetch(acquisition))
})
