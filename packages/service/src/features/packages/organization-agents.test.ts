import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { EvidenceEntry, PackageEvidence, PackageMetadata } from '@agent-exchange/protocol'
import {
  addKey,
  assertProblem,
  assertSuccess,
  boundToAgent,
  draftPackage,
  organizations,
  receiptBody,
  revocationBody,
  revokeKey,
  secondAgent,
  sendPackage,
  sendReceipt,
  sendRevocation,
  startWorld,
  submit,
  submitPackage,
  type Organization,
} from '@agent-exchange/testkit'

const world = await startWorld()
const narrow = await startWorld({
  profile: {
    'O-46': { responses: 'same_agents', receipts: 'recipient_agent', revocations: 'sending_agent' },
  },
})
after(() => Promise.all([world, narrow].map((each) => each[Symbol.asyncDispose]())))
const [seats, cars] = await organizations(world, 'seats', 'cars')
const [otherSeats, otherCars] = [await secondAgent(seats), await secondAgent(cars)]

const sent = async () => (await sendPackage(seats, cars)).metadata
const stateOf = async ({ package_id }: PackageMetadata) =>
  (await seats.get(`/v1/packages/${package_id}`)).body['state']
const setStatus = (agent: Organization, status: string) =>
  agent.world.operate('POST', `/agents/${agent.agentId}/status`, { status, reason: 'test' })
const answering = ({ thread_id, package_id }: PackageMetadata) => ({
  threadId: thread_id,
  respondsTo: package_id,
})
const NOT_RECIPIENT = { reason: 'not_the_recipient' }
const NOT_ACTIVE = { reason: 'agent_not_active' }

test('[PKG-09][PKG-10][O-46] any active agent of the recipient’s organization responds, also to an agent that replaced the sender', async () => {
  const metadata = await sent()
  const answer = await submit(otherCars, await draftPackage(otherCars, otherSeats, answering(metadata)))
  assertSuccess(answer, 'createPackageResponse')
  assert.equal(await stateOf(metadata), 'responded')
  // Unlike its receipt "opened", the response of a colleague counts as access.
  assertProblem(await sendRevocation(seats, metadata), 'invalid_state_transition', { state: 'responded' })
  // A token of one agent still acts only as that agent.
  const draft = await draftPackage(otherCars, seats, answering(metadata))
  await cars.post('/v1/policy-receipts', draft.receipt)
  assertProblem(await submitPackage(await boundToAgent(cars), draft), 'not_permitted')
  assertSuccess(await submitPackage(await boundToAgent(otherCars), draft), 'createPackageResponse')
})

test('[PKG-08] another active agent sends receipts; only "opened" of the recipient agent itself is access', async () => {
  const metadata = await sent()
  assertSuccess(await sendReceipt(otherCars, metadata, 'opened'), 'createPackageReceipt')
  assert.equal(await stateOf(metadata), 'encrypted_available')
  assertSuccess(await sendReceipt(otherCars, metadata, 'received'), 'createPackageReceipt')
  assert.equal(await stateOf(metadata), 'received')
  const body = await receiptBody(otherCars, metadata, 'received')
  const path = `/v1/packages/${metadata.package_id}/receipts`
  assertProblem(await (await boundToAgent(cars)).post(path, body), 'not_permitted')
  assertSuccess(await (await boundToAgent(otherCars)).post(path, body), 'createPackageReceipt')
  // "opened" of a colleague does not end the sender's right to revoke.
  assertSuccess(await sendRevocation(seats, metadata), 'revokePackage')
  const opened = await sent()
  await sendReceipt(cars, opened, 'opened')
  assert.equal(await stateOf(opened), 'opened')
})

test('[PKG-10] another active agent revokes; a key id is looked up at the sending agent first', async () => {
  assertSuccess(await sendRevocation(otherSeats, await sent()), 'revokePackage')
  const metadata = await sent()
  const path = `/v1/packages/${metadata.package_id}/revoke`
  const body = await revocationBody(otherSeats, metadata)
  assertProblem(await (await boundToAgent(seats)).post(path, body), 'not_permitted')
  // One key id, two agents: evidence names the agent whose key verifies.
  const keyId = 'sig_of_both'
  await addKey(seats, 'signing', { keyId })
  const shared = { ...otherSeats, signing: await addKey(otherSeats, 'signing', { keyId }) }
  const revoked = await sendRevocation(shared, metadata)
  assertSuccess(revoked, 'revokePackage')
  const evidence = await cars.get(`/v1/audit/packages/${metadata.package_id}`)
  const { entries } = evidence.body as { entries: EvidenceEntry[] }
  const event = entries.find((entry) => entry.event?.id === revoked.body['audit_event_id'])?.event
  assert.equal(event?.actor.agent_id, otherSeats.agentId)
})

test('[PKG-08][PKG-09][PKG-10] an inactive agent can neither receipt, respond nor revoke', async () => {
  const [oldSeats, oldCars] = [await secondAgent(seats, 'old'), await secondAgent(cars, 'old')]
  const { metadata } = await sendPackage(oldSeats, oldCars)
  const draft = await draftPackage(oldCars, seats, answering(metadata))
  await cars.post('/v1/policy-receipts', draft.receipt)
  await setStatus(oldSeats, 'retired')
  await setStatus(oldCars, 'retired')
  assertProblem(await sendReceipt(oldCars, metadata, 'received'), 'not_permitted', NOT_ACTIVE)
  assertProblem(await submitPackage(cars, draft), 'not_permitted', NOT_ACTIVE)
  assertProblem(await sendRevocation(oldSeats, metadata), 'not_permitted', NOT_ACTIVE)
  // Their replacements can, also with the same key id.
  const successor = { ...seats, signing: await addKey(seats, 'signing', { keyId: oldSeats.signing.keyId }) }
  assertSuccess(await sendReceipt(otherCars, metadata, 'received'), 'createPackageReceipt')
  assertSuccess(await sendRevocation(successor, metadata), 'revokePackage')
})

test('[ID-05][AUD-01] evidence has the keys of every agent that signed, and marks unusable ones', async () => {
  const [receiver, revoker] = [await secondAgent(cars, 'receiver'), await secondAgent(seats, 'revoker')]
  const unused = await addKey(receiver, 'signing')
  const metadata = await sent()
  await sendReceipt(receiver, metadata, 'received')
  await sendReceipt(receiver, metadata, 'failed')
  await sendRevocation(revoker, metadata)
  const past = '2026-03-01T00:00:00Z'
  await revokeKey(receiver, receiver.signing.keyId, past)
  await revokeKey(revoker, revoker.signing.keyId, past)
  const answer = await cars.get(`/v1/audit/packages/${metadata.package_id}`)
  assertSuccess(answer, 'getPackageAuditEvidence')
  const { key_history } = answer.body as unknown as PackageEvidence
  const flagged = key_history.filter((each) => each.accepted_after_invalid_from)
  assert.deepEqual(
    flagged.map(({ agent_id, key }) => `${agent_id} ${key.key_id}`).toSorted(),
    [receiver, revoker].map(({ agentId, signing }) => `${agentId} ${signing.keyId}`).toSorted(),
  )
  assert.ok(!key_history.some(({ key }) => key.key_id === unused.keyId))
  assert.ok(key_history.some(({ agent_id }) => agent_id === seats.agentId))
})

test('[PKG-08][PKG-09][PKG-10] a deployment may restrict all of it to the package’s two agents', async () => {
  const [from, to] = await organizations(narrow, 'from', 'to')
  const [otherFrom, otherTo] = [await secondAgent(from), await secondAgent(to)]
  const { metadata } = await sendPackage(from, to)
  const respond = async (by: Organization, recipient: Organization) =>
    submit(by, await draftPackage(by, recipient, answering(metadata)))
  assertProblem(await respond(otherTo, from), 'response_mismatch', { members: ['sender_agent_id'] })
  assertProblem(await respond(to, otherFrom), 'response_mismatch', { members: ['recipient_agent_id'] })
  assertProblem(await sendReceipt(otherTo, metadata, 'received'), 'not_permitted', NOT_RECIPIENT)
  assertProblem(await sendRevocation(otherFrom, metadata), 'signing_key_unusable', { reason: 'unknown' })
  assertSuccess(await sendReceipt(to, metadata, 'received'), 'createPackageReceipt')
  assertSuccess(await sendRevocation(from, metadata), 'revokePackage')
})

test('[PKG-08] a deployment may count "opened" of a colleague as access', async () => {
  const trusting = await startWorld({ profile: { 'O-46': { opened_by: 'organization' } } })
  await using _ = trusting
  const [from, to] = await organizations(trusting, 'from', 'to')
  const { metadata } = await sendPackage(from, to)
  assertSuccess(await sendReceipt(await secondAgent(to), metadata, 'opened'), 'createPackageReceipt')
  assertProblem(await sendRevocation(from, metadata), 'invalid_state_transition', { state: 'opened' })
})
