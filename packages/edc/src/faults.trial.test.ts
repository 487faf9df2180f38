import assert from 'node:assert/strict'
import { after, before, beforeEach, suite, test } from 'node:test'
import { sha256Digest } from '@agent-exchange/crypto'
import type { Faults } from '@agent-exchange/edc-simulator'
import { offer, rejectsWith } from './contract-suite.fixture.ts'
import { simulatedPair, type SimulatedPair } from './simulated-pair.fixture.ts'

suite('what goes wrong between connectors', () => {
  let pair: SimulatedPair
  before(async () => {
    pair = await simulatedPair()
  })
  beforeEach(() => {
    pair.acme.faults = {}
    pair.bolt.faults = {}
  })
  after(() => pair[Symbol.asyncDispose]())

  const catalogs = [
    ['no offer', 'no_offer'],
    ['two offers', 'several_offers'],
    ['other asset', 'offer_mismatch'],
    ['no pull', 'offer_mismatch'],
    ['duties', 'offer_mismatch'],
  ] as const
  for (const [catalog, code] of catalogs)
    test(`a catalog with ${catalog} is ${code}, and nothing is negotiated`, async () => {
      const { request } = await offer(pair)
      pair.acme.faults = { catalog }
      await rejectsWith(code, pair.recipient.acquire(request))
      assert.equal((await pair.count(request.assetId)).negotiations, 0)
    })

  test('duties are taken on when the organization says so, and then the policy must match to the letter', async () => {
    const { request } = await offer(pair)
    pair.acme.faults = { catalog: 'duties' }
    const acceptTerms = ({ obligations }: { obligations: number }) => obligations === 1
    // The sender agrees on its own policy, which has no duty: ours refuses that agreement.
    const ended = await rejectsWith(
      'negotiation_terminated',
      pair.recipient.acquire({ ...request, acceptTerms }),
    )
    assert.match(ended.state ?? '', /^TERMINAT(?:ING|ED)$/u)
    assert.match(ended.likelyCause ?? '', /to the letter/u)
  })

  test('an agreement on another asset than the one asked for is refused', async () => {
    const [{ request }, other] = [await offer(pair), await offer(pair)]
    pair.acme.faults = { agreesOnAsset: other.request.assetId }
    await rejectsWith('offer_mismatch', pair.recipient.acquire(request))
    assert.equal((await pair.count(request.assetId)).transfers, 0)
  })

  for (const state of ['INITIAL', 'REQUESTING', 'AGREED', 'VERIFIED'] as const)
    test(`a negotiation that hangs at ${state} ends at the deadline, and goes on when it can`, async () => {
      const { bytes, request } = await offer(pair)
      const who = state === 'VERIFIED' ? pair.acme : pair.bolt
      who.faults = { negotiationHangsAt: state }
      const hung = await rejectsWith(
        'negotiation_timeout',
        pair.recipient.acquire(request, { deadlineMs: 30_000 }),
      )
      assert.equal(hung.state, state)
      assert.ok(hung.likelyCause !== undefined && hung.at !== undefined && hung.negotiationId !== undefined)
      who.faults = {}
      const acquisition = await pair.recipient.acquire(request)
      assert.deepEqual(Buffer.from(await pair.recipient.fetch(acquisition)), bytes)
      assert.deepEqual(await pair.count(request.assetId), { assets: 1, negotiations: 1, transfers: 1 })
    })

  test('a negotiation that ends is an error with its detail; acquiring again begins a new one', async () => {
    const { request } = await offer(pair)
    pair.bolt.faults = { negotiationEndsAt: { state: 'REQUESTED', detail: 'credential expired' } }
    const ended = await rejectsWith('negotiation_terminated', pair.recipient.acquire(request))
    assert.equal(ended.errorDetail, 'credential expired')
    assert.match(ended.likelyCause ?? '', /credentials/u)
    assert.ok(ended.negotiationId !== undefined && ended.counterPartyNegotiationId !== undefined)
    pair.bolt.faults = {}
    await pair.recipient.acquire(request)
    assert.equal((await pair.count(request.assetId)).negotiations, 2)
  })

  for (const [who, state] of [
    ['bolt', 'REQUESTING'],
    ['acme', 'STARTING'],
  ] as const)
    test(`a transfer that hangs at ${state} ends at the deadline with both ids, and goes on when it can`, async () => {
      const { bytes, request } = await offer(pair)
      pair[who].faults = { transferHangsAt: state }
      const hung = await rejectsWith(
        'transfer_timeout',
        pair.recipient.acquire(request, { deadlineMs: 30_000 }),
      )
      assert.ok(hung.transferProcessId !== undefined && hung.contractAgreementId !== undefined)
      assert.equal(hung.counterPartyTransferProcessId !== undefined, who === 'acme')
      assert.equal(hung.state, who === 'acme' ? 'REQUESTED' : 'REQUESTING')
      pair[who].faults = {}
      assert.deepEqual(Buffer.from(await pair.recipient.fetch(await pair.recipient.acquire(request))), bytes)
      assert.deepEqual(await pair.count(request.assetId), { assets: 1, negotiations: 1, transfers: 1 })
    })

  test('a transfer that ends is an error with its detail', async () => {
    const { request } = await offer(pair)
    pair.bolt.faults = { transferEndsAt: { state: 'REQUESTED', detail: 'no data plane found' } }
    const ended = await rejectsWith('transfer_terminated', pair.recipient.acquire(request))
    // Which of the two the connector shows depends on when it is asked.
    assert.match(ended.state ?? '', /^TERMINAT(?:ING|ED)$/u)
    assert.equal(ended.errorDetail, 'no data plane found')
    assert.match(ended.likelyCause ?? '', /data plane/u)
    const { transferProcessId = '' } = ended
    const transfer = pair.bolt.state.transfers.get(transferProcessId)
    if (transfer) transfer.errorDetail = `refused eyJhbGciOiJFUzI1NiJ9.${'x'.repeat(30)}`
    assert.equal((await pair.recipient.status({ transferProcessId })).errorDetail, 'refused [token]')
  })

  test('a started transfer without a token ends at its own limit', async () => {
    const { request } = await offer(pair)
    pair.bolt.faults = { withholdToken: true }
    const acquisition = await pair.recipient.acquire(request)
    const lost = await rejectsWith('transfer_timeout', pair.recipient.fetch(acquisition))
    assert.match(lost.likelyCause ?? '', /EDR/u)
  })

  const wrongBytes: readonly (readonly [string, NonNullable<Faults['bytes']>])[] = [
    ['flipped', { kind: 'flip', at: 7 }],
    ['missing', { kind: 'drop', count: 1 }],
    ['extra', { kind: 'add', count: 1 }],
  ]
  for (const [name, bytes] of wrongBytes)
    test(`a ${name} byte comes through as it is: the digest of the manifest tells, and nothing else does`, async () => {
      const offered = await offer(pair)
      pair.acme.faults = { bytes, lyingProperties: { aexDigest: await sha256Digest(offered.bytes) } }
      const received = await pair.recipient.fetch(await pair.recipient.acquire(offered.request))
      assert.notEqual(await sha256Digest(received), await sha256Digest(offered.bytes))
    })

  test('a swapped asset comes through with the digest of what it is', async () => {
    const [wanted, other] = [await offer(pair), await offer(pair)]
    pair.acme.faults = { bytes: { kind: 'swap', assetId: other.request.assetId } }
    const received = await pair.recipient.fetch(await pair.recipient.acquire(wanted.request))
    assert.equal(await sha256Digest(received), await sha256Digest(other.bytes))
  })

  test('a truncated or reset body is tried again, and an error when it stays so', async () => {
    const { bytes, request } = await offer(pair)
    const acquisition = await pair.recipient.acquire(request)
    for (const kind of [{ kind: 'truncate', after: 100 }, { kind: 'reset' }] as const) {
      pair.acme.faults = { bytes: kind, bytesTimes: 2 }
      assert.deepEqual(Buffer.from(await pair.recipient.fetch(acquisition)), bytes)
      pair.acme.faults = { bytes: kind }
      await rejectsWith(
        kind.kind === 'reset' ? 'unreachable' : 'truncated',
        pair.recipient.fetch(acquisition),
      )
    }
  })

  test('a body that is too large is refused by its length, and without one by counting', async () => {
    const { request } = await offer(pair, 5_000)
    const acquisition = await pair.recipient.acquire(request)
    await rejectsWith('too_large', pair.recipient.fetch(acquisition, { maximumBytes: 4_999 }))
    assert.equal((await pair.recipient.fetch(acquisition, { maximumBytes: 5_000 })).length, 5_000)
    pair.acme.faults = { bytes: { kind: 'endless' } }
    await rejectsWith('too_large', pair.recipient.fetch(acquisition, { maximumBytes: 500_000 }))
  })

  test('a slow body arrives whole where there is time, and not where there is none', async () => {
    const { bytes, request } = await offer(pair)
    const acquisition = await pair.recipient.acquire(request)
    pair.acme.faults = { bytes: { kind: 'slow', pauseMs: 20 } }
    assert.deepEqual(Buffer.from(await pair.recipient.fetch(acquisition)), bytes)
    pair.acme.faults = { bytes: { kind: 'slow', pauseMs: 100 } }
    await rejectsWith('timeout', pair.recipient.fetch(acquisition, { deadlineMs: 300 }))
  })

  test('a body that stalls ends at the deadline, or when the caller gives up', async () => {
    const { request } = await offer(pair)
    const acquisition = await pair.recipient.acquire(request)
    pair.acme.faults = { bytes: { kind: 'stall', after: 10 } }
    await rejectsWith('timeout', pair.recipient.fetch(acquisition, { deadlineMs: 200 }))
    await rejectsWith('aborted', pair.recipient.fetch(acquisition, { signal: AbortSignal.timeout(100) }))
  })

  for (const rejectWith of [401, 403] as const)
    test(`a token refused with ${rejectWith} once costs one new transfer; refused again it is an error`, async () => {
      const { bytes, request } = await offer(pair)
      const acquisition = await pair.recipient.acquire(request)
      pair.acme.faults = { rejectTokens: 1, rejectWith }
      assert.deepEqual(Buffer.from(await pair.recipient.fetch(acquisition)), bytes)
      assert.equal((await pair.count(request.assetId)).transfers, 2)
      pair.acme.faults = { rejectTokens: 2, rejectWith }
      const refused = await rejectsWith('token_rejected', pair.recipient.fetch(acquisition))
      assert.equal(refused.contractAgreementId, acquisition.contractAgreementId)
      // The second transfer was taken up again; no third one was made for the first refusal of this call.
      assert.equal((await pair.count(request.assetId)).transfers, 2)
      pair.acme.faults = {}
      await pair.recipient.finish(acquisition)
      const open = [...pair.bolt.state.transfers.values()].filter(({ state }) => state === 'STARTED')
      assert.deepEqual(
        open.filter(({ assetId }) => assetId === request.assetId),
        [],
      )
    })

  test('fetches whose token is refused at the same time share one new transfer', async () => {
    const { bytes, request } = await offer(pair)
    const acquisition = await pair.recipient.acquire(request)
    pair.acme.faults = { rejectTokens: 5 }
    const received = await Promise.all(Array.from({ length: 5 }, () => pair.recipient.fetch(acquisition)))
    for (const one of received) assert.deepEqual(Buffer.from(one), bytes)
    assert.equal((await pair.count(request.assetId)).transfers, 2)
  })

  test('a data plane that is down for a moment is asked again; one that refuses is an error', async () => {
    const { bytes, request } = await offer(pair)
    const acquisition = await pair.recipient.acquire(request)
    pair.acme.faults = { dataPlaneStatus: { status: 503, times: 2 } }
    assert.deepEqual(Buffer.from(await pair.recipient.fetch(acquisition)), bytes)
    pair.acme.faults = { dataPlaneStatus: { status: 500, times: 99 } }
    await rejectsWith('unreachable', pair.recipient.fetch(acquisition))
    pair.acme.faults = { dataPlaneStatus: { status: 404, times: 1 } }
    await rejectsWith('bad_answer', pair.recipient.fetch(acquisition))
    pair.acme.faults = { dataPlaneStatus: { status: 410, times: 1 } }
    await rejectsWith('withdrawn', pair.recipient.fetch(acquisition))
  })

  test('a sender whose data address is gone is unreachable, not withdrawn', async () => {
    await using other = await simulatedPair()
    const { request } = await offer(other)
    const acquisition = await other.recipient.acquire(request)
    await other.dataAddress.close()
    await rejectsWith('unreachable', other.recipient.fetch(acquisition))
  })
})

test('of several error details the first is reported', async () => {
  await using pair = await simulatedPair({ stepMs: 1_000 })
  const { request } = await offer(pair)
  const onProgress = ({ step }: { step: string }) => {
    if (step === 'negotiation_started') pair.acme.state.contractDefinitions.clear()
  }
  const ended = await rejectsWith('negotiation_terminated', pair.recipient.acquire(request, { onProgress }))
  assert.match(ended.errorDetail ?? '', /^Failed to send request to provider: 404/u)
  assert.match(ended.likelyCause ?? '', /withdrawn/u)
})
