import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, before, suite, test } from 'node:test'
import { sha256Digest } from '@agent-exchange/crypto'
import type { AcquireRequest, CounterParty, ProgressStep } from '@agent-exchange/sdk'
import { ConnectorError, type ConnectorErrorCode } from './connector-error.ts'
import { examineConnector } from './examine-connector.ts'
import type { InspectableConnector } from './inspectable-connector.ts'

/** Two connectors that can reach each other, and what the suite needs to look behind them. */
export interface ConnectorPair extends AsyncDisposable {
  readonly sender: InspectableConnector
  readonly recipient: InspectableConnector
  readonly senderParty: CounterParty
  /** The same connector after a restart of the program. */
  restart(who: 'sender' | 'recipient'): InspectableConnector
  /** What the recipient's and the sender's connectors hold for an asset. */
  count(assetId: string): Promise<{ assets: number; negotiations: number; transfers: number }>
  /** Whether the connector evaluates access policies. Stock EDC has no function for the condition and ignores it. */
  readonly enforcesAccess: boolean
  /** How long a negotiation may take before it counts as stuck. */
  readonly stuckAfterMs: number
}

/** Every connector must pass this: the simulated one and the real ones alike. */
export function registerContractSuite(name: string, start: () => Promise<ConnectorPair>): void {
  suite(`${name}: the contract of a connector`, () => {
    let pair: ConnectorPair
    before(async () => {
      pair = await start()
    })
    after(() => pair[Symbol.asyncDispose]())
    registerTransferTests(() => pair)
    registerResumeTests(() => pair)
    registerWithdrawalTests(() => pair)
    registerRefusalTests(() => pair)
  })
}

interface Offered {
  readonly packageId: string
  readonly bytes: Uint8Array
  readonly request: AcquireRequest
}

/** Publishes fresh bytes for the recipient. */
export async function offer(pair: ConnectorPair, size = 600): Promise<Offered> {
  const packageId = `pkg_${randomBytes(12).toString('hex')}`
  const bytes = randomBytes(size)
  const digest = await sha256Digest(bytes)
  const recipientParticipantId = pair.recipient.participantId
  const { assetId } = await pair.sender.publish({ packageId, bytes, digest, recipientParticipantId })
  return { packageId, bytes, request: { packageId, assetId, counterParty: pair.senderParty } }
}

export async function rejectsWith(
  code: ConnectorErrorCode,
  work: Promise<unknown> | (() => Promise<unknown>),
): Promise<ConnectorError> {
  let caught: unknown
  await assert.rejects(work, (error: unknown) => {
    caught = error
    return error instanceof ConnectorError && error.code === code ? true : unexpected(error, code)
  })
  return caught as ConnectorError
}

function unexpected(error: unknown, code: string): never {
  const got =
    error instanceof ConnectorError ? `${error.code}: ${error.message} ${error.errorDetail}` : String(error)
  throw new Error(`expected ${code}, got ${got}`, { cause: error })
}

function registerTransferTests(pair: () => ConnectorPair): void {
  test('[PKG-03] the recipient gets exactly the bytes that were published, and the transfer can be ended', async () => {
    const { recipient } = pair()
    const { bytes, request } = await offer(pair(), 300_000)
    const steps: ProgressStep[] = []
    const acquisition = await recipient.acquire(request, { onProgress: ({ step }) => steps.push(step) })
    assert.deepEqual(JSON.parse(JSON.stringify(acquisition)), acquisition)
    assert.notEqual(acquisition.counterPartyTransferProcessId, undefined)
    assert.notEqual(acquisition.counterPartyTransferProcessId, acquisition.transferProcessId)
    for (const step of ['offer_found', 'negotiation_started', 'agreement_reached', 'transfer_ready'] as const)
      assert.ok(steps.includes(step), step)
    const ready = await recipient.status(acquisition)
    assert.equal(ready.phase, 'ready')
    assert.equal(ready.counterPartyTransferProcessId, acquisition.counterPartyTransferProcessId)
    assert.deepEqual(Buffer.from(await recipient.fetch(acquisition)), bytes)
    await recipient.finish(acquisition)
    assert.equal((await recipient.status(acquisition)).phase, 'ended')
    await recipient.finish(acquisition)
  })

  test('packages under way together are not mixed up', async () => {
    const offers = await Promise.all([1, 2, 3].map((size) => offer(pair(), size)))
    await Promise.all(
      offers.map(async ({ bytes, request }) => {
        const acquisition = await pair().recipient.acquire(request)
        assert.deepEqual(Buffer.from(await pair().recipient.fetch(acquisition)), bytes)
        await pair().recipient.finish(acquisition)
      }),
    )
  })

  test('a fetch after the end of the transfer makes one new transfer on the same agreement', async () => {
    const { recipient } = pair()
    const { bytes, request } = await offer(pair())
    const acquisition = await recipient.acquire(request)
    await recipient.finish(acquisition)
    assert.deepEqual(Buffer.from(await recipient.fetch(acquisition)), bytes)
    assert.deepEqual(await pair().count(request.assetId), { assets: 1, negotiations: 1, transfers: 2 })
    await recipient.finish(acquisition)
  })

  test('the doctor finds nothing wrong, and says whether access policies are evaluated', async () => {
    const checks = await examineConnector(pair().sender)
    const wrong = checks.filter(({ ok }) => !ok).map(({ name, detail }) => `${name}: ${detail}`)
    assert.deepEqual(wrong, pair().enforcesAccess ? [] : ['access_policy: ignored'])
    assert.ok(checks.some(({ name }) => name === 'dry_run'))
    const [seen] = (
      await examineConnector(pair().recipient, { counterParty: pair().senderParty, dryRun: false })
    ).slice(-1)
    assert.deepEqual({ name: seen?.name, ok: seen?.ok }, { name: 'counterparty', ok: true })
  })
}

function registerResumeTests(pair: () => ConnectorPair): void {
  test('publishing again changes nothing, also after a restart; other content is a conflict', async () => {
    const { packageId, bytes, request } = await offer(pair())
    const digest = await sha256Digest(bytes)
    const recipientParticipantId = pair().recipient.participantId
    const again = { packageId, bytes, digest, recipientParticipantId }
    assert.equal((await pair().restart('sender').publish(again)).created, false)
    assert.equal((await pair().count(request.assetId)).assets, 1)
    const other = randomBytes(10)
    const otherDigest = await sha256Digest(other)
    await rejectsWith('conflict', pair().sender.publish({ ...again, bytes: other, digest: otherDigest }))
    await rejectsWith(
      'conflict',
      pair().sender.publish({ ...again, recipientParticipantId: 'somebody-else' }),
    )
  })

  for (const step of ['data_stored', 'asset_published', 'policy_published'] as const)
    test(`a sender that stops at ${step} completes the same publication later`, async () => {
      const packageId = `pkg_${randomBytes(12).toString('hex')}`
      const bytes = randomBytes(50)
      const digest = await sha256Digest(bytes)
      const whole = { packageId, bytes, digest, recipientParticipantId: pair().recipient.participantId }
      await assert.rejects(pair().sender.publish(whole, stopAt(step)), Stopped)
      const { assetId, created } = await pair().restart('sender').publish(whole)
      assert.equal(created, true)
      const acquisition = await pair().recipient.acquire({
        packageId,
        assetId,
        counterParty: pair().senderParty,
      })
      assert.deepEqual(Buffer.from(await pair().recipient.fetch(acquisition)), bytes)
      assert.deepEqual(await pair().count(assetId), { assets: 1, negotiations: 1, transfers: 1 })
    })

  for (const step of ['offer_found', 'negotiation_started', 'agreement_reached', 'transfer_started'] as const)
    test(`a recipient that stops at ${step} goes on with the same negotiation and transfer`, async () => {
      const { bytes, request } = await offer(pair())
      await assert.rejects(pair().recipient.acquire(request, stopAt(step)), Stopped)
      const restarted = pair().restart('recipient')
      const acquisition = await restarted.acquire(request)
      assert.deepEqual(Buffer.from(await restarted.fetch(acquisition)), bytes)
      assert.deepEqual(await pair().count(request.assetId), { assets: 1, negotiations: 1, transfers: 1 })
    })

  test('acquiring twice, one after the other or at once, is one negotiation and one transfer', async () => {
    const { request } = await offer(pair())
    const [first, second] = await Promise.all([
      pair().recipient.acquire(request),
      pair().recipient.acquire(request),
    ])
    assert.deepEqual(second, first)
    assert.deepEqual(await pair().restart('recipient').acquire(request), first)
    assert.deepEqual(await pair().count(request.assetId), { assets: 1, negotiations: 1, transfers: 1 })
  })
}

class Stopped extends Error {}

/** A program that ends at a step: what it had begun stays at the connector. */
function stopAt(at: ProgressStep) {
  return {
    onProgress: ({ step }: { step: ProgressStep }) => {
      if (step === at) throw new Stopped(at)
    },
  }
}

function registerWithdrawalTests(pair: () => ConnectorPair): void {
  test('[PKG-10] withdrawn before anyone agreed, nothing of it is left', async () => {
    const { packageId, bytes, request } = await offer(pair())
    const report = await pair().sender.withdraw(request.assetId)
    const nothing = { endedTransfers: [], agreedWith: [], problems: [] }
    assert.deepEqual(report, {
      assetId: request.assetId,
      dataBlocked: true,
      offerRemoved: true,
      assetDeleted: true,
      ...nothing,
    })
    await rejectsWith('no_offer', pair().recipient.acquire(request))
    const recipientParticipantId = pair().recipient.participantId
    const again = { packageId, bytes, digest: await sha256Digest(bytes), recipientParticipantId }
    await rejectsWith('withdrawn', pair().sender.publish(again))
  })

  test('[PKG-10] withdrawn with a transfer under way, neither its token nor a new transfer brings the bytes', async () => {
    const { request } = await offer(pair())
    const acquisition = await pair().recipient.acquire(request)
    const report = await pair().restart('sender').withdraw(request.assetId)
    assert.deepEqual(report, {
      assetId: request.assetId,
      dataBlocked: true,
      offerRemoved: true,
      // The connector keeps what somebody has agreed on; without its bytes.
      assetDeleted: false,
      endedTransfers: [acquisition.counterPartyTransferProcessId],
      agreedWith: [pair().recipient.participantId],
      problems: [],
    })
    const refused = await rejectsWith('withdrawn', pair().recipient.fetch(acquisition))
    assert.notEqual(refused.transferProcessId, acquisition.transferProcessId)
    await rejectsWith('withdrawn', async () =>
      pair().recipient.fetch(await pair().restart('recipient').acquire(request)),
    )
    const repeated = await pair().sender.withdraw(request.assetId)
    assert.deepEqual([repeated.dataBlocked, repeated.problems], [true, []])
  })

  test('[PKG-10] withdrawn after the end of the transfer, a new transfer on the old agreement brings nothing', async () => {
    const { request } = await offer(pair())
    const acquisition = await pair().recipient.acquire(request)
    await pair().recipient.fetch(acquisition)
    await pair().recipient.finish(acquisition)
    assert.equal((await pair().sender.withdraw(request.assetId)).dataBlocked, true)
    await rejectsWith('withdrawn', pair().recipient.fetch(acquisition))
  })

  test('[PKG-10] withdrawn in the middle of a negotiation, the recipient gets an error and no bytes', async () => {
    const { request } = await offer(pair())
    await assert.rejects(pair().recipient.acquire(request, stopAt('negotiation_started')), Stopped)
    assert.equal((await pair().sender.withdraw(request.assetId)).dataBlocked, true)
    await assert.rejects(
      async () => pair().recipient.fetch(await pair().recipient.acquire(request)),
      ConnectorError,
    )
  })
}

function registerRefusalTests(pair: () => ConnectorPair): void {
  test('an asset that is not offered is no_offer, and nothing is negotiated', async () => {
    const request = { packageId: 'pkg_none', assetId: 'aex-pkg_none', counterParty: pair().senderParty }
    await rejectsWith('no_offer', pair().recipient.acquire(request))
    assert.equal((await pair().count('aex-pkg_none')).negotiations, 0)
  })

  test('terms that the organization does not accept are not agreed to', async () => {
    const { request } = await offer(pair())
    let conditions: readonly unknown[] = []
    const acceptTerms = (terms: { conditions: readonly { value: string }[] }) => {
      conditions = terms.conditions.map(({ value }) => value)
      return false
    }
    await rejectsWith('offer_mismatch', pair().recipient.acquire({ ...request, acceptTerms }))
    assert.deepEqual(conditions, [pair().recipient.participantId])
    assert.equal((await pair().count(request.assetId)).negotiations, 0)
  })

  test('a wrong participant id leaves the negotiation stuck, and the error says where and why', async () => {
    const { request } = await offer(pair())
    const counterParty = { ...request.counterParty, participantId: 'not-the-one' }
    const deadlineMs = pair().stuckAfterMs
    const stuck = await rejectsWith(
      'negotiation_timeout',
      pair().recipient.acquire({ ...request, counterParty }, { deadlineMs }),
    )
    assert.equal(stuck.state, 'REQUESTED')
    assert.ok(
      stuck.at !== undefined &&
        stuck.negotiationId !== undefined &&
        stuck.counterPartyNegotiationId !== undefined,
    )
    assert.match(stuck.likelyCause ?? '', /participant id/u)
  })

  test('a protocol endpoint where nobody answers is unreachable', async () => {
    const counterParty = { ...pair().senderParty, protocolEndpoint: 'http://127.0.0.1:9/protocol' }
    const request = { packageId: 'pkg_x', assetId: 'aex-pkg_x', counterParty }
    await rejectsWith('unreachable', pair().recipient.acquire(request, { deadlineMs: 15_000 }))
  })

  test('an abort is reported, and the work can be resumed', async () => {
    const { bytes, request } = await offer(pair())
    const stop = new AbortController()
    const onProgress = ({ step }: { step: ProgressStep }) => step === 'negotiation_started' && stop.abort()
    await rejectsWith('aborted', pair().recipient.acquire(request, { signal: stop.signal, onProgress }))
    const acquisition = await pair().recipient.acquire(request)
    assert.deepEqual(Buffer.from(await pair().recipient.fetch(acquisition)), bytes)
    await rejectsWith('aborted', pair().recipient.fetch(acquisition, { signal: AbortSignal.abort() }))
    await rejectsWith('too_large', pair().recipient.fetch(acquisition, { maximumBytes: 10 }))
  })

  test('input that cannot be right is refused before anything is sent', async () => {
    const whole = { packageId: 'pkg_y', bytes: randomBytes(5), recipientParticipantId: 'x' }
    const digest = await sha256Digest(randomBytes(5))
    await rejectsWith('invalid_input', pair().sender.publish({ ...whole, digest }))
    await rejectsWith('invalid_input', pair().sender.withdraw('../policydefinitions'))
  })
}
