import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { after, test } from 'node:test'
import {
  addKey,
  assertProblem,
  assertSuccess,
  draftPackage,
  organizations,
  revokeKey,
  secondAgent,
  sendPackage,
  sendReceipt,
  sendRevocation,
  startWorld,
  submit,
  submitPackage,
  untilBlocked,
  type Answer,
  type Organization,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const [seats, cars] = await organizations(world, 'seats', 'cars')

const shifted = (seconds: number) => new Date(Date.parse(world.clock.now()) + seconds * 1_000).toISOString()
const withKey = async (
  organization: Organization,
  options?: { validFrom?: string },
): Promise<Organization> => ({
  ...organization,
  signing: await addKey(organization, 'signing', options),
})
const unusable = (reason: string) => ({ reason })

/** A package, covered by a receipt that the organization's first key has signed. */
async function covered(by: Organization, created_at = world.clock.now()) {
  const draft = await draftPackage(by, cars, { metadata: { created_at } })
  const { receipt } = await draftPackage(seats, cars, { metadata: draft.metadata })
  assertSuccess(await seats.post('/v1/policy-receipts', receipt), 'createPolicyReceipt')
  return draft
}

test('[ID-05][PKG-01] unknown, another agent’s, the counterparty’s, an encryption key: none of them signs', async () => {
  const other = await secondAgent(seats)
  for (const signing of [
    { ...seats.signing, keyId: 'sig_unknown' },
    other.signing,
    cars.signing,
    { ...seats.signing, keyId: seats.encryption.keyId },
  ]) {
    const draft = await covered({ ...seats, signing })
    assertProblem(await submitPackage(seats, draft), 'signing_key_unusable', unusable('unknown'))
  }
  // The right id with other material.
  const draft = await covered({ ...seats, signing: { ...other.signing, keyId: seats.signing.keyId } })
  assertProblem(await submitPackage(seats, draft), 'signature_invalid', { reason: 'signature_mismatch' })
})

test('[ID-05] valid_from may equal created_at, and may not be later', async () => {
  const from = shifted(0)
  const late = await withKey(seats, { validFrom: from })
  assertSuccess(await submitPackage(seats, await covered(late, from)), 'createPackageTransfer')
  const before = new Date(Date.parse(from) - 1).toISOString()
  const early = await submitPackage(seats, await covered(late, before))
  assertProblem(early, 'signing_key_unusable', unusable('not_yet_valid'))
})

test('[ID-05] valid_from may equal the arrival, and may not be later: no dating ahead', async () => {
  const from = shifted(60)
  const ahead = await withKey(seats, { validFrom: from })
  const { metadata } = await sendPackage(seats, cars)
  const { receipt } = await draftPackage(ahead, cars, { receipt: { evaluated_at: from } })
  const held = await covered(ahead, from)
  for (const answer of [
    await submitPackage(seats, held),
    await seats.post('/v1/policy-receipts', receipt),
    await sendRevocation(ahead, metadata, { change: { requested_at: from } }),
  ])
    assertProblem(answer, 'signing_key_unusable', unusable('not_yet_valid'))
  world.clock.advance(60)
  assertSuccess(await submitPackage(seats, held), 'createPackageTransfer')
})

test('[ID-05] created_at and arrival both lie before invalid_from: no backdating', async () => {
  const stolen = await withKey(seats)
  await revokeKey(stolen, stolen.signing.keyId, shifted(-60))
  for (const created_at of [shifted(-3_600), shifted(-60), shifted(0), shifted(3_600)]) {
    const answer = await submitPackage(seats, await covered(stolen, created_at))
    assertProblem(answer, 'signing_key_unusable', unusable('revoked'))
  }
})

test('[ID-05] a revocation in the future lets the key work until then', async () => {
  const leaving = await withKey(seats)
  const end = shifted(60)
  await revokeKey(leaving, leaving.signing.keyId, end)
  assertSuccess(await submitPackage(seats, await covered(leaving)), 'createPackageTransfer')
  const ahead = await submitPackage(seats, await covered(leaving, end))
  assertProblem(ahead, 'signing_key_unusable', unusable('revoked'))
  const held = await covered(leaving)
  world.clock.advance(61)
  assertProblem(await submitPackage(seats, held), 'signing_key_unusable', unusable('revoked'))
})

test('[ID-04][ID-05] a stolen key whose retirement was planned ends when the theft is reported', async () => {
  const leaving = await withKey(seats)
  await revokeKey(leaving, leaving.signing.keyId, shifted(86_400))
  assertSuccess(await submitPackage(seats, await covered(leaving)), 'createPackageTransfer')
  const held = await covered(leaving)
  assertSuccess(await revokeKey(leaving, leaving.signing.keyId, shifted(-60)), 'revokeAgentKey')
  assertProblem(await submitPackage(seats, held), 'signing_key_unusable', unusable('revoked'))
  const later = await revokeKey(leaving, leaving.signing.keyId, shifted(3_600))
  assertProblem(later, 'invalid_state_transition')
})

test('[ID-05][PKG-08] a package receipt is judged at its arrival, and what it claims is not ahead of our clock', async () => {
  const { metadata } = await sendPackage(seats, cars)
  // What happened before the rotation may be said with the key that came after it.
  const rotated = await withKey(cars, { validFrom: shifted(-1) })
  const late = await sendReceipt(rotated, metadata, 'received', { change: { occurred_at: shifted(-3_600) } })
  assertSuccess(late, 'createPackageReceipt')
  const ahead = await sendReceipt(cars, metadata, 'opened', { change: { occurred_at: shifted(60) } })
  assertProblem(ahead, 'validation_failed')
  const skewed = await sendReceipt(cars, metadata, 'opened', { change: { occurred_at: shifted(20) } })
  assertSuccess(skewed, 'createPackageReceipt')
})

test('[ID-05] a retiring key still signs, a retired one does not', async () => {
  const old = await withKey(seats)
  await addKey(seats, 'signing', { replaces: old.signing.keyId })
  assertSuccess(await submitPackage(seats, await covered(old)), 'createPackageTransfer')
  await world.sql`update agent_key set status = 'retired' where key_id = ${old.signing.keyId}`
  const answer = await submitPackage(seats, await covered(old))
  assertProblem(answer, 'signing_key_unusable', unusable('retired'))
})

test('[ID-05] the same holds for policy receipts, package receipts and revocations', async () => {
  const [sender, recipient] = [await withKey(seats), await withKey(cars)]
  const { metadata } = await sendPackage(seats, cars)
  const past = shifted(-60)
  await revokeKey(sender, sender.signing.keyId, past)
  await revokeKey(recipient, recipient.signing.keyId, past)
  const backdated = { occurred_at: shifted(-3_600) }
  const { receipt } = await draftPackage(sender, cars, { receipt: { evaluated_at: shifted(-3_600) } })
  for (const answer of [
    await seats.post('/v1/policy-receipts', receipt),
    await sendReceipt(recipient, metadata, 'received', { change: backdated }),
    await sendRevocation(sender, metadata, { change: { requested_at: shifted(-3_600) } }),
  ]) {
    assertProblem(answer, 'signing_key_unusable', unusable('revoked'))
  }
  const early = await withKey(cars, { validFrom: shifted(3_600) })
  const answer = await sendReceipt(early, metadata, 'received')
  assertProblem(answer, 'signing_key_unusable', unusable('not_yet_valid'))
})

test('[ID-05][API-04] what was accepted stays accepted: a retry after the revocation gives the first answer', async () => {
  const sender = await withKey(seats)
  const draft = await draftPackage(sender, cars)
  const first = await submit(seats, draft, { idempotencyKey: 'before-the-theft' })
  await revokeKey(sender, sender.signing.keyId, shifted(-60))
  const retry = await submitPackage(seats, draft, { idempotencyKey: 'before-the-theft' })
  assert.equal(retry.text, first.text)
  assert.equal(retry.status, 202)
})

test('[ID-05] a revocation waits for a package that is being accepted, and comes after it', async () => {
  const sender = await withKey(seats)
  const draft = await covered(sender)
  // The thread's lock, by the name that the service gives it: acceptance stops there, with the key already held.
  const name = createHash('sha256').update(`thread\0${draft.metadata.thread_id}`).digest()
  const order: string[] = []
  const pending: Promise<Answer>[] = []
  await world.sql.begin(async (tx) => {
    await tx`select pg_advisory_xact_lock(${name.readBigInt64BE().toString()}::bigint)`
    pending.push(submitPackage(seats, draft).finally(() => order.push('accepted')))
    await untilBlocked(world, 1)
    pending.push(revokeKey(sender, sender.signing.keyId, shifted(-60)).finally(() => order.push('revoked')))
    await untilBlocked(world, 2)
  })
  const [creation, revocation] = await Promise.all(pending)
  assert.deepEqual([creation?.status, revocation?.status], [202, 200])
  assert.deepEqual(order, ['accepted', 'revoked'])
  const evidence = await cars.get(`/v1/audit/packages/${draft.metadata.package_id}`)
  const history = evidence.body['key_history'] as {
    key: { key_id: string }
    accepted_after_invalid_from?: boolean
  }[]
  const used = history.find(({ key }) => key.key_id === sender.signing.keyId)
  assert.equal(used?.accepted_after_invalid_from, true)
})

test('[ID-05] a package waits for a revocation that is being recorded, and is refused after it', async () => {
  const sender = await withKey(seats)
  const draft = await covered(sender)
  const pending: Promise<Answer>[] = []
  await world.sql.begin(async (tx) => {
    // The revocation holds the key and waits to write its event.
    await tx`lock table agent_key_event in share mode`
    pending.push(revokeKey(sender, sender.signing.keyId, shifted(-60)))
    await untilBlocked(world, 1)
    pending.push(submitPackage(seats, draft))
    await untilBlocked(world, 2)
  })
  const [revocation, creation] = await Promise.all(pending)
  assert.equal(revocation?.status, 200)
  assert.ok(creation)
  assertProblem(creation, 'signing_key_unusable', unusable('revoked'))
})
