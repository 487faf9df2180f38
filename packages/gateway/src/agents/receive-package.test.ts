import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { exampleObjects, type ProtocolObject } from '@agent-exchange/protocol'
import type { OpenedPackage } from '@agent-exchange/sdk'
import { placeHold } from '../content/holds.ts'
import { openContentStore } from '../content/open-content-store.ts'
import { deleteDue } from '../content/retention.ts'
import { gatewayDatabase, testBox } from '../stores/gateway-database.fixture.ts'
import type { HostedAgent } from './hosted-agent.ts'
import { storeReceived } from './receive-package.ts'

const database = await gatewayDatabase()
after(() => database[Symbol.asyncDispose]())
const { db } = database

const OPENED = '2026-03-01T00:00:00.000Z'
const daysLater = (days: number, from = OPENED) =>
  new Date(Date.parse(from) + days * 86_400_000).toISOString()

const policyId = exampleObjects.reasoning_package.policy_envelope.policy_id
const policyOf = (days: number): ProtocolObject => ({
  ...exampleObjects.policy_envelope,
  policy_id: policyId,
  retention: { duration_days: days },
})
/** The sender asks for 90 days. */
const question: ProtocolObject = exampleObjects.reasoning_package
const answer: ProtocolObject = {
  ...exampleObjects.response_object,
  policy_envelope: { ...exampleObjects.response_object.policy_envelope, policy_id: policyId },
}

/** An agent that receives objects, and a clock that moves. */
async function receiving(begins: 'opened' | 'accepted' = 'opened') {
  const agentId = await database.newAgent()
  const clock = { at: OPENED, now: () => clock.at }
  const contents = openContentStore({ db, box: testBox(), clock })
  const profile = { 'O-51': { retention_begins: begins } }
  const hosted = { agentId, agent: { context: { deployment: { profile } } } } as unknown as HostedAgent
  let number = 0
  async function receive(
    object: ProtocolObject,
    { from = 'org_partner', thread = 'thread_1', at = OPENED, accepted = daysLater(-10) } = {},
  ) {
    const packageId = `pkg_${(number += 1)}`
    const party = { organizationId: from, agentId: 'agent_partner' }
    const opened = {
      object,
      metadata: {},
      resource: { package_id: packageId, thread_id: thread },
      sentBy: party,
      writtenBy: party,
      senderKey: { keyId: 'key_1', fingerprint: 'f' },
      acceptedAt: accepted,
      receipts: [],
    } as unknown as OpenedPackage
    await db.begin((tx) => storeReceived(tx, { hosted, contents, opened, openedAt: new Date(at) }))
    return packageId
  }
  const reader = { kind: 'system', id: 'erp', purpose: 'test' } as const
  /** What the sender of a package lets language models do with it. */
  async function modelUseOf(packageId: string) {
    const content = await contents.read(reader, agentId, packageId)
    assert.ok(content !== undefined && content !== 'gone')
    return content.modelUse
  }
  /** Which of the packages are gone at this time. */
  async function goneAt(at: string, ...packageIds: readonly string[]) {
    clock.at = at
    await deleteDue(db, clock)
    const found = await Promise.all(packageIds.map((id) => contents.read(reader, agentId, id)))
    return found.map((content) => content === 'gone')
  }
  return { agentId, receive, modelUseOf, goneAt }
}

test("[O-51][OBJ-15] a received policy's retention counts for the content under it and for itself, the shorter of both", async () => {
  const { receive, goneAt } = await receiving()
  const packages = [await receive(policyOf(30)), await receive(question), await receive(answer)]
  assert.deepEqual(await goneAt(daysLater(29.9), ...packages), [false, false, false])
  assert.deepEqual(await goneAt(daysLater(30), ...packages), [true, true, true])
})

test('[O-51] a longer policy leaves what the package asks for, and one of another organization changes nothing', async () => {
  const { receive, goneAt } = await receiving()
  await receive(policyOf(365))
  await receive(policyOf(1), { from: 'org_other' })
  const [asked, unlimited] = [await receive(question), await receive(answer, { from: 'org_third' })]
  assert.deepEqual(await goneAt(daysLater(89.9), asked, unlimited), [false, false])
  assert.deepEqual(await goneAt(daysLater(90), asked, unlimited), [true, false])
})

test('[O-51] a policy that comes after its content shortens its retention, counted from when that was opened', async () => {
  const { receive, goneAt } = await receiving()
  const [early, reply] = [await receive(question), await receive(answer)]
  const foreign = await receive(question, { from: 'org_other' })
  const policy = await receive(policyOf(20), { at: daysLater(5) })
  assert.deepEqual(await goneAt(daysLater(20), early, reply, foreign, policy), [true, true, false, false])
  assert.deepEqual(await goneAt(daysLater(25), policy), [true])
})

test('[O-51] the retention of a policy counts from the acceptance where the exchange says so', async () => {
  const { receive, goneAt } = await receiving('accepted')
  const packages = [await receive(policyOf(30)), await receive(question)]
  assert.deepEqual(await goneAt(daysLater(20), ...packages), [true, true])
})

test('[OBJ-15] of two policies the one that the exchange accepted later counts, also if the earlier one is opened after it', async () => {
  const { receive, modelUseOf, goneAt } = await receiving()
  const none = { allowed_for_training: false, allowed_for_runtime_reasoning: false }
  const all = { allowed_for_training: true, allowed_for_runtime_reasoning: true }
  const first = { ...policyOf(20), model_use: all } as ProtocolObject
  const later = { ...policyOf(60), model_use: none } as ProtocolObject
  const asked = await receive(question)
  await receive(later, { accepted: daysLater(-1) })
  assert.deepEqual(await modelUseOf(asked), none)
  for (const at of [daysLater(1), daysLater(2)]) await receive(first, { accepted: daysLater(-2), at })
  assert.deepEqual(await modelUseOf(asked), none, 'the permission does not come back')
  assert.deepEqual(await goneAt(daysLater(59), asked), [false], 'and shortens no retention')
  await receive(first, { accepted: daysLater(1), at: daysLater(1) })
  assert.deepEqual(await goneAt(daysLater(59), asked), [true], 'a newer one counts')
})

test('a legal hold keeps what a policy ends', async () => {
  const { agentId, receive, goneAt } = await receiving()
  await receive(policyOf(30), { thread: 'thread_2' })
  const [held, free] = [await receive(question), await receive(question, { thread: 'thread_3' })]
  const hold = { agentId, threadId: 'thread_1', by: 'counsel', reason: 'case 12' }
  await placeHold(db, new Date(OPENED), hold)
  assert.deepEqual(await goneAt(daysLater(30), held, free), [false, true])
})

test('[O-51] no number of days that a sender may ask for keeps its package from being stored', async () => {
  const { receive, goneAt } = await receiving()
  const endless = { ...exampleObjects.reasoning_package.boundaries, retention_days: 1e300 }
  const packages = [
    await receive({ ...exampleObjects.reasoning_package, boundaries: endless }),
    await receive(policyOf(1e300)),
  ]
  assert.deepEqual(await goneAt(daysLater(36_500), ...packages), [false, false])
})
