import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { generateKeyPair } from '@agent-exchange/crypto'
import { exampleObjects, type PackageMetadata, type TrustOverrides } from '@agent-exchange/protocol'
import { startWorld } from '@agent-exchange/testkit'
import { startAgent, startAgents } from '../agents.fixture.ts'
import type { AgentContext } from '../context.ts'
import { createContext } from '../create-context.ts'
import { ExchangeError } from '../errors.ts'
import { createMemoryKeyStore } from '../keys/memory-key-store.ts'
import { behindLiar, sendCrafted } from '../send/crafted.fixture.ts'
import { SECRET_WORDS } from '../send/drafts.fixture.ts'
import { openPackage } from './open-package.ts'
import {
  CONTENT,
  inJson,
  inPayload,
  INVALID_INSIDE,
  LIES,
  RECEIPT,
  wrongInside,
} from '../send/opening-attacks.fixture.ts'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const { acme, bolt } = await startAgents(world, 'acme', 'bolt')
const eve = await startAgent(world, 'eve')

async function refusal(work: Promise<unknown>): Promise<ExchangeError> {
  try {
    await work
  } catch (error) {
    if (error instanceof ExchangeError) return error
    throw error
  }
  throw new Error('it was opened')
}

/** States of the receipts that the exchange holds for a package. */
async function receiptStates(packageId: string): Promise<string[]> {
  const { receipts } = await acme.connection.call('getPackageAuditEvidence', {
    path: { package_id: packageId },
  })
  return receipts.map(({ state }) => state)
}

/** Refused with this code and reported to the sender; the error contains no word of the content. */
async function isRefused(
  by: AgentContext,
  { package_id }: PackageMetadata,
  code: string,
  receipts: string[],
): Promise<ExchangeError> {
  const error = await refusal(openPackage(by, package_id))
  assert.equal(error.code, code, error.message)
  assert.deepEqual(await receiptStates(package_id), receipts)
  const thrown = [error.message, JSON.stringify(error.details), JSON.stringify(error.failures)].join(' ')
  assert.ok(!thrown.includes(SECRET_WORDS))
  return error
}

test('[PKG-08] opened twice, received and opened once', async () => {
  const { package_id } = await sendCrafted(acme, bolt)
  const first = await openPackage(bolt, package_id)
  world.clock.advance(3)
  const again = await openPackage(createContext(bolt.options), package_id)
  assert.deepEqual(
    again.receipts.map(({ receipt_id, accepted_at }) => [receipt_id, accepted_at]),
    first.receipts.map(({ receipt_id, accepted_at }) => [receipt_id, accepted_at]),
  )
  assert.deepEqual(await receiptStates(package_id), ['received', 'opened'])
})

test('[PKG-08] receipts can be left out in part or as a whole', async () => {
  const silent = await sendCrafted(acme, bolt)
  await openPackage(bolt, silent.package_id, { receipts: 'none' })
  assert.deepEqual(await receiptStates(silent.package_id), [])
  await openPackage(bolt, silent.package_id, { receipts: 'received' })
  assert.deepEqual(await receiptStates(silent.package_id), ['received'])
})

test('[PKG-07] somebody who is no party opens nothing, and a colleague of the recipient neither', async () => {
  const { package_id } = await sendCrafted(acme, bolt)
  assert.equal((await refusal(openPackage(eve, package_id))).problem?.status, 404)
  const colleague = await startAgent(world, 'bolt', { colleagueOf: bolt })
  assert.equal((await refusal(openPackage(colleague, package_id))).code, 'package_not_for_us')
  assert.deepEqual(await receiptStates(package_id), [])
})

for (const [name, [crafting, pointer]] of Object.entries(wrongInside(acme, eve))) {
  test(`[PKG-08] another ${name} inside than outside is rejected`, async () => {
    const error = await isRefused(bolt, await sendCrafted(acme, bolt, crafting), 'content_mismatch', [
      'rejected',
    ])
    assert.deepEqual(error.details['members'], [pointer])
    assert.deepEqual(error.details['receipt'], { state: 'rejected', sent: true })
  })
}

test('[PKG-09] the object inside may have an id and a time of its own: it opens, and both are reported', async () => {
  const own = { id: 'pkg_written_before', created_at: '2026-01-01T00:00:00Z' }
  const metadata = await sendCrafted(acme, bolt, { object: (o) => ({ ...o, ...own }) })
  const { package_id: packageId, created_at: createdAt } = metadata
  const { ids, createdAt: times, receipts } = await openPackage(bolt, packageId)
  assert.deepEqual(ids, { package: packageId, object: own.id })
  assert.deepEqual(times, { package: createdAt, object: own.created_at })
  assert.deepEqual(
    receipts.map(({ state }) => state),
    ['received', 'opened'],
  )
})

test('[O-35] stories, threads and policies of a third organization open, and it is shown who wrote and who sent', async () => {
  const third = { organization_id: 'org_third', agent_id: 'agent_third', human_id: 'user_third' }
  for (const type of ['network_story', 'loop_thread', 'policy_envelope'] as const) {
    const { thread_id, package_id } = await sendCrafted(acme, bolt, {
      object: (o) => ({
        ...exampleObjects[type],
        ...(type !== 'policy_envelope' && { thread_id: o['thread_id'] }),
        created_by: third,
      }),
    })
    const { object, writtenBy, sentBy } = await openPackage(bolt, package_id)
    assert.equal(object.object_type, type)
    assert.deepEqual(writtenBy, {
      organizationId: 'org_third',
      agentId: 'agent_third',
      humanId: 'user_third',
    })
    assert.deepEqual(sentBy, acme.identity, thread_id)
  }
})

test('[O-35] what a predecessor of the sending agent wrote opens; what another organization wrote does not', async () => {
  const before = { organization_id: acme.identity.organizationId, agent_id: 'agent_predecessor' }
  const crafting = { object: (o: object) => ({ ...o, created_by: before, sender: before }) }
  const { package_id } = await sendCrafted(acme, bolt, crafting)
  const { writtenBy } = await openPackage(bolt, package_id)
  assert.equal(writtenBy.agentId, 'agent_predecessor')
  // Somebody else's object, signed again by acme.
  const taken = { organization_id: eve.identity.organizationId, agent_id: eve.identity.agentId }
  const again = await sendCrafted(acme, bolt, { object: (o) => ({ ...o, created_by: taken, sender: taken }) })
  const error = await isRefused(bolt, again, 'content_mismatch', ['rejected'])
  assert.deepEqual(error.details['members'], ['/created_by/organization_id', '/sender/organization_id'])
})

test('[O-35] an agent may compare more, or nothing', async () => {
  const judging = (rules: NonNullable<TrustOverrides['O-35']>) =>
    createContext({ ...bolt.options, trust: { 'O-35': rules } })
  const third = { organization_id: 'org_third', agent_id: 'agent_third' }
  const story = await sendCrafted(acme, bolt, {
    object: (o) => ({ ...exampleObjects.network_story, thread_id: o['thread_id'], created_by: third }),
  })
  const opening = openPackage(judging({ author: 'every_object' }), story.package_id)
  assert.deepEqual((await refusal(opening)).details['members'], ['/created_by/organization_id'])
  const before = { organization_id: acme.identity.organizationId, agent_id: 'agent_predecessor' }
  const older = await sendCrafted(acme, bolt, { object: (o) => ({ ...o, sender: before }) })
  const strict = openPackage(judging({ sender: 'agent' }), older.package_id)
  assert.deepEqual((await refusal(strict)).details['members'], ['/sender/agent_id'])
  const foreign = await sendCrafted(acme, bolt, {
    object: (o) => ({ ...o, sender: third, created_by: third }),
  })
  const opened = await openPackage(judging({ author: 'anyone', sender: 'anyone' }), foreign.package_id)
  assert.equal(opened.writtenBy.organizationId, 'org_third')
})

test('[O-17] additional data that mean something else to somebody else pass', async () => {
  const foreign = ['svc/1.0', '[1]', '{"note":"ours"}', '{"package_id":"pkg_other"}', '{"created_at":1}']
  for (const aad of foreign) {
    const { package_id } = await sendCrafted(acme, bolt, { aad: new TextEncoder().encode(aad) })
    assert.equal((await openPackage(bolt, package_id)).object.id, package_id)
  }
})

test('[OBJ-04] what is inside has to be one valid object, read by everybody alike', async () => {
  for (const crafting of INVALID_INSIDE)
    await isRefused(bolt, await sendCrafted(acme, bolt, crafting), 'object_invalid', ['rejected'])
})

test('[PKG-02] sealed for a stranger under our key id is rejected; for a key that is lost, failed', async () => {
  const { publicKey } = await generateKeyPair('encryption')
  await isRefused(bolt, await sendCrafted(acme, bolt, { recipientKey: publicKey }), 'content_not_opened', [
    'rejected',
  ])
  const sent = await sendCrafted(acme, bolt)
  const forgetful = createContext({
    ...bolt.options,
    keys: { ...bolt.keys, list: async () => (await bolt.keys.list()).filter((k) => k.role !== 'encryption') },
  })
  await isRefused(forgetful, sent, 'key_missing', ['failed'])
  // PKG-08: a failure leaves the way open.
  await openPackage(bolt, sent.package_id)
  assert.deepEqual(await receiptStates(sent.package_id), ['failed', 'received', 'opened'])
})

for (const [name, [path, alter, code, receipts]] of Object.entries(LIES)) {
  test(`[PKG-01] an exchange that shows ${name} is caught`, async () => {
    const sent = await sendCrafted(acme, bolt)
    const liar = behindLiar({ ...bolt, options: { ...bolt.options, limits: { attempts: 1 } } }, path, alter)
    await isRefused(liar, sent, code, receipts)
    // The truth still opens.
    assert.equal((await openPackage(bolt, sent.package_id)).object.id, sent.package_id)
  })
}

test('[PKG-01] the same lie in metadata and envelope is caught by the signature', async () => {
  const sent = await sendCrafted(acme, bolt)
  const later = '2099-01-01T00:00:00Z'
  const envelope = inPayload(({ metadata, jwe }) => ({ metadata: { ...metadata, expires_at: later }, jwe }))
  const resource = inJson((r) => ({ ...r, metadata: { ...(r['metadata'] as object), expires_at: later } }))
  const both = behindLiar(bolt, /^\/(?:content|v1)\/packages\/[^/]+$/, (text) =>
    text.startsWith('{"protected"') || text.includes('"payload"') ? envelope(text) : resource(text),
  )
  const error = await isRefused(both, sent, 'signature_invalid', ['rejected'])
  assert.deepEqual(
    (error.details['findings'] as { code: string }[]).map(({ code }) => code),
    ['nothing_fits'],
  )
})

test('[POL-04] the policy receipt of another package does not cover this one', async () => {
  const [other, sent] = [await sendCrafted(acme, bolt), await sendCrafted(acme, bolt)]
  const { receipt } = await acme.connection.call('getPolicyReceipt', {
    path: { policy_receipt_id: other.policy_receipt_id },
  })
  const swapped = behindLiar(
    bolt,
    RECEIPT,
    inJson((r) => ({ ...r, receipt })),
  )
  const error = await isRefused(swapped, sent, 'content_mismatch', ['rejected'])
  assert.deepEqual(error.details['members'], [
    'policy_receipt.policy_receipt_id',
    'policy_receipt.package_id',
    'policy_receipt.thread_id',
    'policy_receipt.content_digest',
  ])
})

test('[PKG-01] the error names the difference: an envelope that was serialized again', async () => {
  const sent = await sendCrafted(acme, bolt)
  const proxy = behindLiar(
    bolt,
    CONTENT,
    inPayload(({ metadata, jwe }) => ({ metadata, jwe })),
  )
  const error = await refusal(openPackage(proxy, sent.package_id))
  assert.match(error.message, /serialized again/)
})

test('[PKG-08] a module that is away refuses no package: no receipt is sent, and it opens when the module is back', async () => {
  const keys = createMemoryKeyStore()
  let isAway = false
  const privateKey = async (keyId: string) => {
    const key = await keys.privateKey(keyId)
    const away = () => Promise.reject(new Error('the module is away'))
    return { ...key, agree: isAway ? away : key.agree }
  }
  const dora = await startAgent(world, 'dora', { keys: { ...keys, privateKey } })
  const sent = await sendCrafted(acme, dora)
  isAway = true
  const error = await isRefused(dora, sent, 'key_unavailable', [])
  assert.ok(error.retryable)
  isAway = false
  assert.equal((await openPackage(dora, sent.package_id)).object.id, sent.package_id)
})

test('content beyond the limit is not read, and the sender learns that it failed', async () => {
  const { package_id } = await sendCrafted(acme, bolt)
  const error = await refusal(openPackage(bolt, package_id, { maximumBytes: 100 }))
  assert.equal(error.code, 'content_too_large')
  assert.deepEqual(await receiptStates(package_id), ['failed'])
})
