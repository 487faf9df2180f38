import assert from 'node:assert/strict'
import { after, afterEach, test } from 'node:test'
import { sealPackage, type SealedPackage } from '@agent-exchange/crypto'
import type { EdcReferences, PackageResource } from '@agent-exchange/protocol'
import fc from 'fast-check'
import type { AgentContext } from '@agent-exchange/sdk/internal'
import type { Faults } from '@agent-exchange/edc-simulator'
import { sendPackage } from '../../../sdk/src/send/send-package.ts'
import { behindLiar } from '../../../sdk/src/send/crafted.fixture.ts'
import { inputFor } from '../../../sdk/src/send/drafts.fixture.ts'
import { ownParty } from '../../../sdk/src/agent-keys/own-keys.ts'
import {
  resigned,
  sendCraftedTransfer,
  withBrokenSignature,
  type Transfer,
} from './crafted-transfer.fixture.ts'
import {
  connectorCode,
  failure,
  open,
  startSpace,
  TOKEN_LIFETIME_MS,
  through,
  toldTo,
  type Company,
} from './data-space.fixture.ts'

const space = await startSpace()
after(() => space[Symbol.asyncDispose]())
const [acme, bolt] = [await space.company('acme'), await space.company('bolt')]
afterEach(() => {
  for (const { edc } of [acme, bolt]) edc.faults = {}
})

const send = () => sendPackage(acme.agent, inputFor(acme.agent, bolt.agent), acme)
const received = ['received', 'opened']

/** The recipient behind an exchange that misrepresents a package. */
function behind(lie: (shown: PackageResource) => object): Company {
  const agent = behindLiar(bolt.agent, /^\/v1\/packages\/[^/]+$/u, (text) => {
    const shown = JSON.parse(text) as PackageResource
    return JSON.stringify({ ...shown, ...lie(shown) })
  })
  return { ...bolt, agent: { ...bolt.agent, ...agent } }
}

const withEdc = (change: Partial<EdcReferences>) =>
  behind(({ edc }) => ({ edc: { ...(edc as EdcReferences), ...change } }))

const negotiated = async (packageId: string) => (await space.count(packageId)).negotiations

test('[PKG-03] the recipient verifies manifest, digest, signature, then decrypts: the first failure is reported', async () => {
  const { packageId } = await sendCraftedTransfer(acme, bolt, {
    envelope: withBrokenSignature,
    isSealedForAnother: true,
  })
  // Wrong in all four places; each time the first is put right.
  acme.edc.faults = { bytes: { kind: 'flip', at: 0 } }
  const manifest = await failure(
    'signature_invalid',
    open(withEdc({ connector_id: 'connector_x' }), packageId),
  )
  assert.match(manifest.message, /manifest/u)
  assert.equal(await negotiated(packageId), 0)
  const digest = await failure('digest_mismatch', open(bolt, packageId))
  assert.equal(digest.details['member'], 'asset_digest')
  acme.edc.faults = {}
  assert.match((await failure('signature_invalid', open(bolt, packageId))).message, /envelope/u)
  assert.deepEqual(await toldTo(acme, packageId), ['rejected'])
  const sealed = await sendCraftedTransfer(acme, bolt, { isSealedForAnother: true })
  const unopened = await failure('content_not_opened', open(bolt, sealed.packageId))
  assert.deepEqual(unopened.details['receipt'], { state: 'rejected', sent: true })
  assert.deepEqual(await toldTo(acme, sealed.packageId), ['rejected'])
})

test('[PKG-03] an exchange that shows another manifest is caught before anything is negotiated', async () => {
  const [one, two] = [await send(), await sendCraftedTransfer(acme, bolt)]
  const other = await bolt.agent.connection.call('getPackage', { path: { package_id: two.packageId } })
  const lies: Readonly<Record<string, Company>> = {
    'another connector': withEdc({ connector_id: bolt.connector.connectorId }),
    'another asset': withEdc({ asset_id: two.edc.asset_id }),
    'another digest': withEdc({ asset_digest: two.edc.asset_digest }),
    'an agreement that the sender did not name': withEdc({ contract_agreement_id: 'agreement_1' }),
    'another thread': behind(({ metadata }) => ({
      thread_id: other.thread_id,
      metadata: { ...metadata, thread_id: other.thread_id },
    })),
    'the manifest of another package': behind(({ package_id, metadata }) => ({
      ...other,
      package_id,
      metadata: { ...other.metadata, package_id: metadata.package_id },
    })),
  }
  for (const [name, liar] of Object.entries(lies)) {
    const error = await failure('signature_invalid', open(liar, one.packageId))
    assert.match(error.message, /manifest/u, name)
  }
  const whole = behind(({ package_id }) => ({ ...other, package_id }))
  await failure('exchange_answer_unreadable', open(whole, one.packageId))
  assert.equal(await negotiated(one.packageId), 0)
  assert.deepEqual(await toldTo(acme, one.packageId), ['rejected'])
  await open(bolt, one.packageId)
  assert.deepEqual(await toldTo(acme, one.packageId), ['rejected', ...received])
})

test('[PKG-03] the digest is over the exact bytes: no other bytes pass, however alike', async () => {
  const { packageId } = await send()
  const alter = { now: (bytes: Uint8Array) => bytes }
  const { edc } = await bolt.agent.connection.call('getPackage', { path: { package_id: packageId } })
  const counterParty = await bolt.dataSpace.participant(acme.agent.identity.organizationId)
  assert.ok(edc && counterParty)
  // One transfer for all of it: this is about the bytes.
  const acquisition = await bolt.connector.acquire({ packageId, assetId: edc.asset_id, counterParty })
  const altered = through(bolt, {
    acquire: async () => acquisition,
    finish: async () => undefined,
    fetch: async (...given) => alter.now(await bolt.connector.fetch(...given)),
  })
  const opening = () => open(altered, packageId, { receipts: 'none' })
  const asJson = (write: (value: object) => string) => (bytes: Uint8Array) =>
    new TextEncoder().encode(write(JSON.parse(new TextDecoder().decode(bytes)) as object))
  const sameMeaning: ((bytes: Uint8Array) => Uint8Array)[] = [
    asJson((value) => JSON.stringify(value, null, 1)),
    asJson((value) => JSON.stringify(Object.fromEntries(Object.entries(value).toReversed()))),
    asJson((value) => `${JSON.stringify(value)}\n`),
    asJson((value) => JSON.stringify(value).replace('"payload"', String.raw`"\u0070ayload"`)),
    (bytes) => Uint8Array.from([0xef, 0xbb, 0xbf, ...bytes]),
  ]
  for (const rewrite of sameMeaning) {
    alter.now = rewrite
    assert.equal((await failure('digest_mismatch', opening())).details['member'], 'asset_digest')
  }
  await fc.assert(
    fc.asyncProperty(fc.nat(), fc.integer({ min: 1, max: 255 }), fc.nat(2), async (place, mask, kind) => {
      alter.now = (bytes) => {
        const at = place % bytes.length
        const [head, byte = 0, tail] = [bytes.subarray(0, at), bytes[at], bytes.subarray(at + 1)]
        return [
          [...head, byte ^ mask, ...tail],
          [...head, ...tail],
          [...head, mask, byte, ...tail],
        ]
          .map((whole) => Uint8Array.from(whole))
          .at(kind) as Uint8Array
      }
      await failure('digest_mismatch', opening())
    }),
    { numRuns: 12 },
  )
  assert.deepEqual(await toldTo(acme, packageId), [])
  alter.now = (bytes) => bytes
  await opening()
})

test('[PKG-03] what a catalog claims of an asset neither helps wrong bytes nor harms right ones', async () => {
  const [one, two] = [await send(), await sendCraftedTransfer(acme, bolt)]
  acme.edc.faults = {
    bytes: { kind: 'swap', assetId: two.edc.asset_id },
    lyingProperties: { aexDigest: two.edc.asset_digest, digest: two.edc.asset_digest },
  }
  await failure('digest_mismatch', open(bolt, one.packageId))
  acme.edc.faults = { lyingProperties: { aexDigest: two.edc.asset_digest, contenttype: 'text/html' } }
  await open(bolt, one.packageId)
  assert.deepEqual(await toldTo(acme, one.packageId), ['rejected', ...received])
})

/** Bytes whose digest the sender signed, and which are not what the package says. */
const CRAFTED: readonly (readonly [
  string,
  'content_mismatch' | 'digest_mismatch' | 'signature_invalid',
  (original: Transfer) => Parameters<typeof sendCraftedTransfer>[2],
])[] = [
  ['an asset of another thread, replayed', 'content_mismatch', ({ edc }) => ({ asset: { edc } })],
  [
    'the envelope of another thread, published again',
    'content_mismatch',
    ({ bytes }) => ({ envelope: () => new TextDecoder().decode(bytes) }),
  ],
  [
    'other metadata inside than outside',
    'content_mismatch',
    ({ metadata: { expires_at } }) => ({
      envelope: (text, from) =>
        resigned(text, from, {
          change: ({ metadata, jwe }) => ({ metadata: { ...metadata, created_at: expires_at }, jwe }),
        }),
    }),
  ],
  [
    'other content than the policy receipt was given for',
    'digest_mismatch',
    () => ({
      envelope: async (text, from) => {
        const jwe = await sealedNote(from)
        return resigned(text, from, { change: ({ metadata }) => ({ metadata, jwe }) })
      },
    }),
  ],
  [
    'an envelope that a stranger signed',
    'signature_invalid',
    () => ({ envelope: (text, from) => resigned(text, from, { byNobody: true }) }),
  ],
  ['something that is no envelope', 'signature_invalid', () => ({ envelope: () => '{"hello":"world"}' })],
]

async function sealedNote(from: AgentContext): Promise<SealedPackage> {
  const { keyId: kid, publicKey } = await from.peers.encryptionKey(bolt.agent.identity.agentId)
  return sealPackage(new TextEncoder().encode('{}'), {
    sender: await ownParty(from),
    recipient: { kid, publicKey },
    aad: new TextEncoder().encode('{}'),
  })
}

test('[PKG-03][PKG-08] bytes that a sender signed for and that are not its package are rejected', async () => {
  const original = await sendCraftedTransfer(acme, bolt)
  for (const [name, code, craft] of CRAFTED) {
    const { packageId } = await sendCraftedTransfer(acme, bolt, craft(original))
    const error = await failure(code, open(bolt, packageId))
    assert.deepEqual(error.details['receipt'], { state: 'rejected', sent: true }, name)
    if (code === 'digest_mismatch') assert.equal(error.details['member'], 'content_digest')
    assert.deepEqual(await toldTo(acme, packageId), ['rejected'], name)
  }
  await open(bolt, original.packageId)
})

test('[PKG-03] another company cannot pass off a sealed package as its own', async () => {
  const { bytes } = await sendCraftedTransfer(acme, bolt)
  const mallory = await space.company('acme')
  const stolen = await sendCraftedTransfer(mallory, bolt, { envelope: () => new TextDecoder().decode(bytes) })
  const error = await failure('content_mismatch', open(bolt, stolen.packageId))
  assert.ok((error.details['members'] as string[]).includes('metadata.sender_org_id'))
  assert.deepEqual(await toldTo(mallory, stolen.packageId), ['rejected'])
})

/** What goes wrong between connectors, what the recipient's agent makes of it, and what the sender is sent. */
const BETWEEN: readonly (readonly [string, 'acme' | 'bolt', Faults, string, 'failed' | undefined])[] = [
  ['no offer', 'acme', { catalog: 'no offer' }, 'no_offer', 'failed'],
  ['two offers', 'acme', { catalog: 'two offers' }, 'several_offers', 'failed'],
  [
    'a negotiation that hangs',
    'bolt',
    { negotiationHangsAt: 'REQUESTING' },
    'negotiation_timeout',
    undefined,
  ],
  [
    'a negotiation that ends',
    'bolt',
    { negotiationEndsAt: { state: 'REQUESTED', detail: 'credential expired' } },
    'negotiation_terminated',
    'failed',
  ],
  ['a transfer that hangs', 'acme', { transferHangsAt: 'STARTING' }, 'transfer_timeout', undefined],
  [
    'a transfer that ends',
    'bolt',
    { transferEndsAt: { state: 'REQUESTED' } },
    'transfer_terminated',
    'failed',
  ],
  ['a token that is refused twice', 'acme', { rejectTokens: 2 }, 'token_rejected', 'failed'],
]

for (const [name, who, faults, code, receipt] of BETWEEN)
  test(`[PKG-08] ${name}: ${code}, receipt ${receipt ?? 'none'}, and the package opens once it is fixed`, async () => {
    const { packageId } = await send()
    const { edc } = { acme, bolt }[who]
    edc.faults = faults
    const error = await failure('connector_failed', open(bolt, packageId))
    assert.equal(connectorCode(error), code)
    assert.equal(error.retryable, receipt === undefined)
    edc.faults = {}
    await open(bolt, packageId)
    assert.deepEqual(await toldTo(acme, packageId), receipt ? [receipt, ...received] : received)
    const { negotiations } = await space.count(packageId)
    assert.equal(negotiations, code === 'negotiation_terminated' ? 2 : 1)
  })

test('[PKG-08] a body that is too large, with or without a length, is not read, and the sender gets a receipt', async () => {
  const { packageId } = await send()
  const limited = () => open(bolt, packageId, { maximumBytes: 1_000 })
  await failure('content_too_large', limited())
  acme.edc.faults = { bytes: { kind: 'endless' } }
  await failure('content_too_large', limited())
  assert.deepEqual(await toldTo(acme, packageId), ['failed'])
})

test('[PKG-03] a slow body is waited for; whoever gives up tells nobody and may come again', async () => {
  const { packageId } = await send()
  acme.edc.faults = { bytes: { kind: 'stall', after: 10 } }
  const opening = open(bolt, packageId, { signal: AbortSignal.timeout(400) })
  await failure('aborted', opening)
  acme.edc.faults = { bytes: { kind: 'slow', pauseMs: 5 } }
  await open(bolt, packageId)
  assert.deepEqual(await toldTo(acme, packageId), received)
})

test('[PKG-03] a token that expires between agreement and fetch is renewed, in either way', async () => {
  const late = through(bolt, {
    fetch: async (...given) => {
      await space.clock.advance(TOKEN_LIFETIME_MS + 1)
      return bolt.connector.fetch(...given)
    },
  })
  const [refreshed, renewed] = [await send(), await send()]
  const before = acme.edc.state.refreshes
  await open(late, refreshed.packageId)
  assert.equal(acme.edc.state.refreshes, before + 1)
  assert.equal((await space.count(refreshed.packageId)).transfers, 1)
  acme.edc.faults = { rejectTokens: 1 }
  await open(bolt, renewed.packageId)
  assert.equal((await space.count(renewed.packageId)).transfers, 2)
  const running = [...bolt.edc.state.transfers.values()].filter(({ state }) => state === 'STARTED')
  assert.deepEqual(
    running.filter(({ assetId }) => assetId.includes(renewed.packageId)),
    [],
  )
})
