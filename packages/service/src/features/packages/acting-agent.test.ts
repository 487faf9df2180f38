import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  assertProblem,
  assertSuccess,
  boundToAgent,
  brokenLinks,
  draftPackage,
  organizations,
  receiptBody,
  revocationBody,
  revokeKey,
  secondAgent,
  sendPackage,
  startWorld,
  submit,
  submitPackage,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const [seats, cars] = await organizations(world, 'seats', 'cars')
const [neighbour, boundSeats, boundCars] = [
  await secondAgent(seats),
  await boundToAgent(seats),
  await boundToAgent(cars),
]
const boundNeighbour = await boundToAgent(neighbour)

test('[AUTH-03][PKG-01] nobody submits a package in another organization’s or agent’s name', async () => {
  const draft = await draftPackage(seats, cars)
  await seats.post('/v1/policy-receipts', draft.receipt)
  assertProblem(await submitPackage(cars, draft), 'not_permitted')
  assertProblem(await submitPackage(boundNeighbour, draft), 'not_permitted')
  assertSuccess(await submitPackage(boundSeats, draft), 'createPackageTransfer')
})

test('[AUTH-03][PKG-01] an agent id of another organization with one’s own organization id is refused', async () => {
  const disguised = { ...seats, organizationId: cars.organizationId }
  const { receipt, body } = await draftPackage(disguised, cars)
  assertProblem(await cars.post('/v1/policy-receipts', receipt), 'signing_key_unusable', {
    reason: 'unknown',
  })
  assertProblem(await cars.post('/v1/packages', body), 'signing_key_unusable', { reason: 'unknown' })
  const borrowed = { ...cars, organizationId: seats.organizationId }
  const own = await draftPackage(borrowed, cars)
  assertProblem(await seats.post('/v1/packages', own.body), 'signing_key_unusable', { reason: 'unknown' })
})

test('[AUTH-03] a client of one agent sends, receipts, responds and revokes only as that agent', async () => {
  const { metadata } = await sendPackage(boundSeats, cars)
  const path = `/v1/packages/${metadata.package_id}`
  assertSuccess(
    await boundCars.post(`${path}/receipts`, await receiptBody(cars, metadata, 'received')),
    'createPackageReceipt',
  )
  const answering = { threadId: metadata.thread_id, respondsTo: metadata.package_id }
  assertSuccess(await submit(boundCars, await draftPackage(cars, seats, answering)), 'createPackageResponse')

  const second = (await sendPackage(seats, cars)).metadata
  const revocation = await revocationBody(seats, second)
  assertProblem(
    await boundNeighbour.post(`/v1/packages/${second.package_id}/revoke`, revocation),
    'not_permitted',
  )
  assertSuccess(
    await boundSeats.post(`/v1/packages/${second.package_id}/revoke`, revocation),
    'revokePackage',
  )
  assertProblem(
    await revokeKey({ ...boundNeighbour, agentId: seats.agentId }, seats.signing.keyId, world.clock.now()),
    'not_permitted',
  )
  // Reads are open to the whole organization.
  for (const read of [
    path,
    `/v1/threads/${metadata.thread_id}`,
    `/v1/audit/packages/${metadata.package_id}`,
  ]) {
    assert.equal((await boundNeighbour.get(read)).status, 200)
  }
})

test('[API-05][O-21] one idempotency key for two packages is reuse: the path is part of the content', async () => {
  const [first, second] = [
    (await sendPackage(seats, cars)).metadata,
    (await sendPackage(seats, cars)).metadata,
  ]
  const send = async ({ package_id }: typeof first, body: object) =>
    cars.post(`/v1/packages/${package_id}/receipts`, body, { idempotencyKey: 'one-key' })
  const body = await receiptBody(cars, first, 'received')
  const original = await send(first, body)
  assertSuccess(original, 'createPackageReceipt')
  assert.equal((await send(first, body)).text, original.text)
  assertProblem(await send(second, await receiptBody(cars, second, 'received')), 'idempotency_key_reuse')
})

test('[PKG-04] in a batch, a package that cannot be accepted fails without the others', async () => {
  const drafts = await Promise.all(
    Array.from({ length: 12 }, async (_, index) => {
      const draft = await draftPackage(seats, cars, index % 3 === 0 ? { receipt: { skill_id: 'other' } } : {})
      await seats.post('/v1/policy-receipts', draft.receipt)
      return draft
    }),
  )
  const answers = await Promise.all(drafts.map((draft) => submitPackage(seats, draft)))
  assert.deepEqual(
    answers.map(({ status }) => status),
    drafts.map((_, index) => (index % 3 === 0 ? 409 : 202)),
  )
})

test('[PKG-13][AUD-03] concurrent packages in one thread get one order and one unbroken chain', async () => {
  const { metadata } = await sendPackage(seats, cars)
  const { thread_id: threadId } = metadata
  const drafts = await Promise.all(Array.from({ length: 12 }, () => draftPackage(seats, cars, { threadId })))
  for (const answer of await Promise.all(drafts.map((draft) => submit(seats, draft)))) {
    assertSuccess(answer, 'createPackageTransfer')
  }
  const positions = await world.sql`
    select thread_position as position from package where thread_id = ${threadId} order by thread_position`
  assert.deepEqual(
    positions.map((row) => Number(row['position'])),
    Array.from({ length: 13 }, (_, index) => index + 1),
  )
  assert.equal(await brokenLinks(world, threadId), 0)
})
