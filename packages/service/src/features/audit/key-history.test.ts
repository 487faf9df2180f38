import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import type { PackageEvidence } from '@agent-exchange/protocol'
import {
  addKey,
  assertSuccess,
  draftPackage,
  organizations,
  revokeKey,
  sendPackage,
  sendReceipt,
  sendRevocation,
  startWorld,
  submit,
  type Organization,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const [seats, cars] = await organizations(world, 'seats', 'cars')

async function packageEvidence(by: Organization, packageId: string, query = ''): Promise<PackageEvidence> {
  const answer = await by.get(`/v1/audit/packages/${packageId}${query}`)
  assertSuccess(answer, 'getPackageAuditEvidence')
  return answer.body as unknown as PackageEvidence
}

test('[ID-05] key history flags a package accepted between invalid_from and the recording of the revocation', async () => {
  const signing = await addKey(seats, 'signing')
  const { metadata: before } = await sendPackage({ ...seats, signing }, cars)
  world.clock.advance(10)
  const cutoff = world.clock.now()
  world.clock.advance(10)
  const { metadata: between } = await sendPackage({ ...seats, signing }, cars)
  const { metadata: unconcerned } = await sendPackage(seats, cars)
  const history = async (id: string) =>
    (await packageEvidence(cars, id)).key_history.find(({ key }) => key.key_id === signing.keyId)
  assert.equal((await history(before.package_id))?.accepted_after_invalid_from, undefined)
  await revokeKey(seats, signing.keyId, cutoff)
  assert.equal((await history(before.package_id))?.accepted_after_invalid_from, false)
  assert.equal((await history(between.package_id))?.accepted_after_invalid_from, true)
  const shown = await history(between.package_id)
  assert.deepEqual(
    shown?.events.map(({ kind, details }) => [kind, details]),
    [
      ['registered', {}],
      ['revoked', { invalid_from: cutoff }],
    ],
  )
  assert.equal(shown?.key.status, 'revoked')
  // A key that signed nothing about the package is not in its evidence.
  assert.equal(await history(unconcerned.package_id), undefined)
})

test('[ID-05][AUD-01] every page lists exactly the keys that signed the package or a statement about it', async () => {
  const { metadata } = await sendPackage(seats, cars)
  const keysIn = async (query = '') =>
    (await packageEvidence(seats, metadata.package_id, query)).key_history.map(
      ({ agent_id, key }) => `${agent_id} ${key.key_id}`,
    )
  const own = `${seats.agentId} ${seats.signing.keyId}`
  assert.deepEqual(await keysIn(), [own])
  const signing = await addKey(cars, 'signing')
  await sendReceipt({ ...cars, signing }, metadata, 'received')
  for (const query of ['', '?limit=1'])
    assert.deepEqual(await keysIn(query), [own, `${cars.agentId} ${signing.keyId}`])
})

const flagged = async (by: Organization, id: string) =>
  (await packageEvidence(by, id)).key_history.flatMap(({ key, accepted_after_invalid_from }) =>
    accepted_after_invalid_from ? [key.key_id] : [],
  )

test('[ID-05] the flag covers every signature about the package', async () => {
  const [forReceipt, forRevocation, forPolicy] = [
    await addKey(cars, 'signing'),
    await addKey(seats, 'signing'),
    await addKey(seats, 'signing'),
  ]
  const draft = await draftPackage(seats, cars)
  const covering = await draftPackage({ ...seats, signing: forPolicy }, cars, { metadata: draft.metadata })
  assert.equal((await submit(seats, { ...draft, receipt: covering.receipt })).status, 202)
  await sendReceipt({ ...cars, signing: forReceipt }, draft.metadata, 'received')
  await sendRevocation({ ...seats, signing: forRevocation }, draft.metadata)
  assert.deepEqual(await flagged(seats, draft.metadata.package_id), [])
  const past = '2026-03-01T00:00:00Z'
  await revokeKey(cars, forReceipt.keyId, past)
  await revokeKey(seats, forRevocation.keyId, past)
  await revokeKey(seats, forPolicy.keyId, past)
  const keys = [forReceipt, forRevocation, forPolicy].map(({ keyId }) => keyId)
  assert.deepEqual((await flagged(cars, draft.metadata.package_id)).toSorted(), keys.toSorted())
})
