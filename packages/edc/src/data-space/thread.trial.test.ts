import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parseEnvelope, signManifest } from '@agent-exchange/crypto'
import type { DsxPackageBody, TransportMode } from '@agent-exchange/protocol'
import type { AgentContext } from '@agent-exchange/sdk/internal'
import { type CapsuleV3, verifyCapsule } from '@agent-exchange/log'
import type { SendProgress, SentPackage } from '@agent-exchange/sdk'
import { randomId } from '../../../sdk/src/connection/random-id.ts'
import { openPackage } from '../../../sdk/src/open/open-package.ts'
import { readCapsule } from '../../../sdk/src/evidence/read-capsule.ts'
import { respondToPackage } from '../../../sdk/src/send/respond-to-package.ts'
import { revokePackage } from '../../../sdk/src/send/revoke-package.ts'
import { sendPackage } from '../../../sdk/src/send/send-package.ts'
import { behindLiar, sendCrafted } from '../../../sdk/src/send/crafted.fixture.ts'
import {
  inputFor,
  policyFor,
  responseFor,
  SECRET_WORDS,
  SKILL,
} from '../../../sdk/src/send/drafts.fixture.ts'
import { currentSigningKey } from '../../../sdk/src/agent-keys/own-keys.ts'
import { packageIdFor } from '../../../sdk/src/send/package-id.ts'
import { failure, open, startSpace, through, type Company } from './data-space.fixture.ts'
import { findTraces, type Secrets } from './traces.fixture.ts'

const space = await startSpace()
after(() => space[Symbol.asyncDispose]())
const [acme, bolt] = [await space.company('acme'), await space.company('bolt')]

interface Sending {
  readonly threadId?: string
  /** Acts for the sender instead of its own agent. */
  readonly as?: AgentContext
  readonly onProgress?: (progress: SendProgress) => void
}

function send(from: Company, to: Company, { threadId = randomId('thread'), as, onProgress }: Sending = {}) {
  const input = inputFor(from.agent, to.agent, { thread_id: threadId })
  const deps = { ...from, ...(onProgress && { onProgress }) }
  return { id: input.object.id, done: sendPackage(as ?? from.agent, input, deps) }
}

function respond(from: Company, to: Company, original: SentPackage, as: AgentContext = from.agent) {
  const object = responseFor(from.agent, original)
  const input = { object, policy: policyFor(from.agent, to.agent), skill: SKILL }
  const id = packageIdFor(from.agent.identity, object, to.agent.identity)
  return { id, done: respondToPackage(as, original.packageId, input, from) }
}

const modeOf = async ({ agent }: Company, threadId: string) =>
  (await agent.connection.call('getThread', { path: { thread_id: threadId } })).transport_mode

/** An agent that gets a wrong mode of the thread, and so guesses wrongly. */
const misled = ({ agent }: Company, transport_mode: TransportMode) =>
  behindLiar(agent, /^\/v1\/threads\//u, (text) =>
    JSON.stringify({ ...(JSON.parse(text) as object), transport_mode }),
  )

async function refusedBy(code: string, work: Promise<unknown>) {
  const { problem } = await failure('exchange_refused', work)
  assert.equal(problem?.code, code)
  return problem.details
}

const nothingOffered = { assets: 0, offers: 0, packages: 0, negotiations: 0, transfers: 0 }

async function assertNothingOffered(packageId: string) {
  const { policyReceipts: _, ...rest } = await space.count(packageId)
  assert.deepEqual(rest, nothingOffered)
}

test('[PKG-05] a thread of two connected organizations is ds_x throughout, whoever writes and whatever is guessed', async () => {
  const first = await send(acme, bolt).done
  const { threadId } = first
  await refusedBy(
    'transport_mode_mismatch',
    sendCrafted(acme.agent, bolt.agent, { metadata: { thread_id: threadId } }),
  ).then((details) => assert.deepEqual(details, { required_mode: 'ds_x' }))
  const answer = await respond(bolt, acme, first, misled(bolt, 'native')).done
  const next = await send(bolt, acme, { threadId, as: misled(bolt, 'native') }).done
  for (const [by, { packageId, metadata }] of [
    [bolt, first],
    [acme, answer],
    [acme, next],
  ] as const) {
    assert.equal(metadata.transport_mode, 'ds_x')
    await open(by, packageId)
    assert.deepEqual(await space.count(packageId), {
      assets: 1,
      offers: 1,
      packages: 1,
      policyReceipts: 1,
      negotiations: 1,
      transfers: 1,
    })
  }
  const thread = await acme.agent.connection.call('getThread', { path: { thread_id: threadId } })
  assert.deepEqual(new Set(thread.packages.map(({ transport_mode }) => transport_mode)), new Set(['ds_x']))
})

test('[PKG-09] answers to answers go on through connectors for as long as the parties like', async () => {
  let last = await send(acme, bolt).done
  for (let round = 0; round < 4; round++) {
    const [by, to] = round % 2 === 0 ? [bolt, acme] : [acme, bolt]
    await open(by, last.packageId)
    const answer = await respond(by, to, last).done
    assert.match(answer.packageId, /^pkg_/u)
    assert.equal(answer.metadata.responds_to_package_id, last.packageId)
    assert.equal(answer.metadata.transport_mode, 'ds_x')
    last = answer
  }
  const { ids } = await open(bolt, last.packageId)
  assert.equal(ids.package, last.packageId)
  assert.match(ids.object, /^resp_/u)
})

test('[PKG-05] without a connection on both sides a thread is native, and a ds_x guess leaves nothing offered', async () => {
  const dora = await space.company('bolt', { approved: false })
  const steps: string[] = []
  const first = await send(acme, dora, { onProgress: ({ step }) => steps.push(step) }).done
  assert.ok(steps.includes('published'))
  assert.equal(first.metadata.transport_mode, 'native')
  await openPackage(dora.agent, first.packageId)
  const answer = await respond(dora, acme, first, misled(dora, 'ds_x')).done
  assert.equal(answer.metadata.transport_mode, 'native')
  await openPackage(acme.agent, answer.packageId)
  for (const { packageId } of [first, answer])
    assert.deepEqual(await space.count(packageId), { ...nothingOffered, packages: 1, policyReceipts: 1 })
})

for (const [how, whose] of [
  ['suspend', 'sender'],
  ['suspend', 'recipient'],
  ['revoke', 'sender'],
] as const)
  test(`[PKG-03][PKG-05] ${how} the ${whose}'s connection in the middle: new packages refused, no mode changed`, async () => {
    const [carl, dora] = [await space.company('acme'), await space.company('bolt')]
    const first = await send(carl, dora).done
    const { threadId } = first
    await space.stop(whose === 'sender' ? carl : dora, how)

    const next = send(carl, dora, { threadId })
    assert.deepEqual(await refusedBy('connector_not_approved', next.done), { party: whose })
    await assertNothingOffered(next.id)
    // The answer goes the other way, so the parties swap.
    const answer = respond(dora, carl, first)
    const other = whose === 'sender' ? 'recipient' : 'sender'
    assert.deepEqual(await refusedBy('connector_not_approved', answer.done), { party: other })
    await assertNothingOffered(await answer.id)
    const native = sendCrafted(carl.agent, dora.agent, { metadata: { thread_id: threadId } })
    assert.deepEqual(await refusedBy('transport_mode_mismatch', native), { required_mode: 'ds_x' })
    assert.equal(await modeOf(carl, threadId), 'ds_x')
    // What was accepted before is still delivered, and receipts still count.
    assert.equal((await open(dora, first.packageId)).receipts.length, 2)

    const fresh = await send(carl, dora).done
    assert.equal(fresh.metadata.transport_mode, 'native')
    assert.deepEqual(await space.count(fresh.packageId), {
      ...nothingOffered,
      packages: 1,
      policyReceipts: 1,
    })
    assert.equal(await modeOf(carl, threadId), 'ds_x')

    if (how === 'revoke') return
    await space.approve(whose === 'sender' ? carl : dora)
    const again = await send(carl, dora, { threadId }).done
    assert.equal((await open(dora, again.packageId)).metadata.transport_mode, 'ds_x')
    assert.equal(await modeOf(carl, fresh.threadId), 'native')
  })

test('[PKG-05] a native thread stays native when both organizations are connected later', async () => {
  const [carl, dora] = [
    await space.company('acme', { approved: false }),
    await space.company('bolt', { approved: false }),
  ]
  const first = await send(carl, dora).done
  await space.approve(carl)
  await space.approve(dora)
  const answer = await respond(dora, carl, first, misled(dora, 'ds_x')).done
  assert.equal(answer.metadata.transport_mode, 'native')
  assert.equal((await send(carl, dora).done).metadata.transport_mode, 'ds_x')
  assert.equal(await modeOf(carl, first.threadId), 'native')
})

test('[PKG-03] a package from a connector that is not the approved one is refused and taken back', async () => {
  const [carl, dora] = [await space.company('acme'), await space.company('bolt')]
  const { threadId } = await send(carl, dora).done
  for (const stranger of [await space.company('acme', { approved: false }), dora]) {
    const foreign = { ...carl, dataSpace: { ...carl.dataSpace, connector: stranger.connector } }
    const next = send(foreign, dora, { threadId })
    assert.deepEqual(await refusedBy('connector_not_approved', next.done), { party: 'sender' })
    await assertNothingOffered(next.id)
  }
})

test('[PKG-15] an approved pair never falls back: a recipient without ds_x is not capable', async () => {
  const plain = await space.company('bolt', { transportModes: ['native'] })
  const next = send(acme, plain)
  assert.deepEqual(await refusedBy('recipient_not_capable', next.done), { reason: 'transport_mode' })
  await assertNothingOffered(next.id)
})

/** What must never reach the exchange of a package that went through connectors. */
async function sealOf({ outbox }: Company, packageId: string): Promise<Secrets> {
  const { envelopeText = '' } = (await outbox.read(packageId)) ?? {}
  const { jwe, signature } = parseEnvelope(envelopeText)
  const ciphertext = Buffer.from(jwe.ciphertext, 'base64url')
  const middle = Math.floor(ciphertext.length / 2)
  return {
    'the first bytes of the seal': ciphertext.subarray(0, 24),
    'bytes from the middle of the seal': ciphertext.subarray(middle, middle + 24),
    'the last bytes of the seal': ciphertext.subarray(-24),
    'the tag of the seal': Buffer.from(jwe.tag, 'base64url'),
    'a wrapped key': Buffer.from(jwe.recipients[1]?.encrypted_key ?? '', 'base64url'),
    'the signature of the envelope': signature,
  }
}

/** Every credential that either connector holds at a moment. */
function credentialsOf(...companies: readonly Company[]): string[] {
  return companies.flatMap(({ edc }) => [
    ...[...edc.state.tokenEntries.values()].flatMap(({ token, refreshToken }) => [token, refreshToken]),
    ...edc.state.grantedTokens.keys(),
    ...[...edc.state.assets.values()].map(({ dataAddress }) => dataAddress['authCode'] ?? ''),
    edc.apiKey,
  ])
}

test('[PKG-03][PKG-14][ERR-02] nothing of the payload and no credential of a connector is stored or logged', async () => {
  const credentials = new Set<string>()
  const watched = (company: Company) =>
    through(company, {
      fetch: async (...given) => {
        for (const secret of credentialsOf(acme, bolt)) credentials.add(secret)
        return company.connector.fetch(...given)
      },
    })
  const first = await send(acme, bolt).done
  acme.edc.faults = { bytes: { kind: 'flip', at: 9 } }
  await failure('digest_mismatch', open(watched(bolt), first.packageId))
  acme.edc.faults = {}
  await open(watched(bolt), first.packageId)
  const answer = await respond(bolt, acme, first).done
  await open(watched(acme), answer.packageId)
  // Token and refresh token of three transfers, two keys of management APIs, two of data addresses.
  assert.ok(credentials.size >= 10)

  // A client that hands its token over by mistake, under the sender's own signature.
  const [token = ''] = credentials
  const { manifestText = '' } = (await acme.outbox.read(first.packageId)) ?? {}
  const { sender_signature: _, ...manifest } = JSON.parse(manifestText) as DsxPackageBody
  const talkative = { ...manifest, edc: { ...manifest.edc, authorization: token } }
  const sender_signature = await signManifest(talkative, await currentSigningKey(acme.agent))
  const body = { ...talkative, sender_signature }
  const refused = await failure(
    'exchange_refused',
    acme.agent.connection.call('createPackageTransfer', { body: body as DsxPackageBody }),
  )
  assert.equal(refused.problem?.code, 'validation_failed')
  assert.ok(!JSON.stringify(refused.problem).includes(token))

  const secrets = {
    'words from inside': SECRET_WORDS,
    ...Object.fromEntries([...credentials].map((secret, at) => [`credential ${at}`, secret])),
    ...(await sealOf(acme, first.packageId)),
  }
  assert.deepEqual(await findTraces(space.world, secrets), [])
  assert.deepEqual(await findTraces(space.world, await sealOf(bolt, answer.packageId)), [])
  // The search finds what is there: a native package's seal, and who called in columns and log.
  const dora = await space.company('bolt', { approved: false })
  const native = await send(acme, dora).done
  const seal = await findTraces(space.world, await sealOf(acme, native.packageId))
  assert.deepEqual(
    seal.map(({ place }) => place),
    [...Array.from({ length: 5 }, () => 'package_content.payload'), 'package_content.after'],
  )
  const { organizationId } = acme.agent.identity
  const places = new Set((await findTraces(space.world, { organizationId })).map(({ place }) => place))
  for (const place of ['package.sender_org_id', 'log']) assert.ok(places.has(place), place)
})

test('[AUD-01][AUD-03][PKG-03] the evidence of a ds_x thread verifies offline, its manifests too', async () => {
  const first = await send(acme, bolt).done
  await open(bolt, first.packageId)
  const answer = await respond(bolt, acme, first).done
  await open(acme, answer.packageId)
  const last = await send(acme, bolt, { threadId: first.threadId }).done
  await revokePackage(acme.agent, last.packageId, { reasonCode: 'superseded', reasonDetail: 'Newer.' }, acme)
  const contents: Record<string, Uint8Array> = {}
  for (const [{ outbox }, { packageId }] of [
    [acme, first],
    [bolt, answer],
    [acme, last],
  ] as const)
    contents[packageId] = new TextEncoder().encode((await outbox.read(packageId))?.envelopeText)
  let capsule: CapsuleV3 | undefined
  const ids = [first.packageId, answer.packageId, last.packageId]
  // After the revocation its manifest is shown to the sender only.
  for (const [{ agent }, signed] of [
    [bolt, ids.slice(0, 2)],
    [acme, ids],
  ] as const) {
    const text = JSON.stringify((await readCapsule(agent, { threadId: first.threadId })).capsule)
    capsule = JSON.parse(text) as CapsuleV3
    const { outcome, contradictions, checks } = await verifyCapsule(capsule, {
      contents,
      require: 'unpinned',
    })
    assert.deepEqual([outcome, contradictions], ['meets', []])
    for (const [code, of] of [
      ['manifest_signature', signed],
      ['content_signature', ids],
    ] as const)
      assert.deepEqual(
        checks
          .filter((check) => check.code === code && check.result === 'holds')
          .map(({ package_id }) => package_id),
        of,
      )
    assert.ok(!text.includes(SECRET_WORDS))
  }
  assert.ok(capsule)
  const { packages } = capsule
  const altered = (change: (shown: CapsuleV3['packages'][number]) => object) => ({
    ...capsule,
    packages: packages.map((one, at) => (at === 0 ? { ...one, ...change(one) } : one)),
  })
  const lies = [
    altered(({ edc }) => ({ edc: { ...edc, connector_id: 'connector_x' } })),
    altered(({ edc }) => ({ edc: { ...edc, asset_id: 'another' } })),
    altered(({ edc }) => ({ edc: { ...edc, asset_digest: packages[1]?.edc?.asset_digest } })),
    altered(({ edc }) => ({ edc: { ...edc, transfer_process_id: 'made up' } })),
    altered(() => ({ sender_signature: packages[2]?.sender_signature })),
    altered(() => ({ sender_signature: undefined })),
    altered(() => ({ edc: undefined, sender_signature: undefined })),
  ]
  for (const [at, lie] of lies.entries()) {
    const { outcome } = await verifyCapsule(JSON.parse(JSON.stringify(lie)))
    assert.equal(outcome, 'contradiction', `lie ${at}`)
  }
  // The manifest proves what a response answers; the exchange's word is not needed for that.
  const { states } = await verifyCapsule(capsule)
  assert.deepEqual(
    states.map(({ state, signedState }) => [state, signedState]),
    [
      ['responded', 'responded'],
      ['opened', 'opened'],
      ['revoked', 'revoked'],
    ],
  )
  // What the recipient is shown of the revoked package.
  const withheld = packages.map(({ edc, sender_signature, ...rest }, at) =>
    at === 2 ? rest : { edc, sender_signature, ...rest },
  )
  const report = await verifyCapsule(JSON.parse(JSON.stringify({ ...capsule, packages: withheld })))
  assert.deepEqual(report.contradictions, [])
  assert.ok(
    report.checks.some(
      ({ code, result, package_id }) =>
        code === 'manifest_signature' && result === 'unproved' && package_id === last.packageId,
    ),
  )
})
