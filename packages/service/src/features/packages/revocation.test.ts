import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { verifyPackageStatement } from '@agent-exchange/crypto'
import type { EvidenceEntry, PackageMetadata } from '@agent-exchange/protocol'
import {
  assertProblem,
  assertSuccess,
  boundToAgent,
  freshId,
  organizations,
  revocationBody,
  secondAgent,
  sendPackage,
  sendReceipt,
  sendRevocation,
  startWorld,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const [seats, cars, steel] = await organizations(world, 'seats', 'cars', 'steel')

const sent = async () => (await sendPackage(seats, cars)).metadata
const fetchContent = ({ package_id }: PackageMetadata, by = cars) => by.get(`/content/packages/${package_id}`)
const stateOf = async ({ package_id }: PackageMetadata) =>
  (await seats.get(`/v1/packages/${package_id}`)).body['state']

test('[PKG-10][AUD-02] a revocation ends retrieval, keeps the package record and names its audit event', async () => {
  const metadata = await sent()
  const answer = await sendRevocation(seats, metadata)
  assertSuccess(answer, 'revokePackage')
  const { package_id, state, outcome, future_access_blocked, audit_event_id } = answer.body
  assert.deepEqual(
    [package_id, state, outcome, future_access_blocked],
    [metadata.package_id, 'revoked', 'access_blocked', true],
  )
  for (const party of [seats, cars]) {
    assertProblem(await fetchContent(metadata, party), 'package_revoked', {})
    assertSuccess(await party.get(`/v1/packages/${metadata.package_id}`), 'getPackage')
    for (const path of [`threads/${metadata.thread_id}`, `packages/${metadata.package_id}`]) {
      const { entries } = (await party.get(`/v1/audit/${path}`)).body as { entries: EvidenceEntry[] }
      const found = entries.find(({ event }) => event?.id === audit_event_id)
      assert.equal(found?.event?.event_type, 'package_revoked')
    }
  }
})

test('[PKG-10][AUD-01] evidence is sufficient to verify the revocation', async () => {
  for (const form of ['bound', 'plain'] as const) {
    const metadata = await sent()
    await sendRevocation(seats, metadata, { form })
    const evidence = await cars.get(`/v1/audit/packages/${metadata.package_id}`)
    const { entries } = evidence.body as { entries: EvidenceEntry[] }
    const proof = entries.find(({ event }) => event?.event_type === 'package_revoked')
      ?.proof as unknown as Record<string, unknown>
    const { requested_at, reason_code, reason_detail, signature } = proof
    const statement = { requested_at, reason_code, reason_detail, signature }
    const check = { packageId: metadata.package_id, publicKey: seats.signing.pair.publicKey }
    assert.equal(await verifyPackageStatement(statement, check), form)
    assert.equal(proof['signature_form'], form)
  }
})

test('[PKG-10][PKG-11][O-04] a revocation is accepted in every state before access, and in none after it', async () => {
  const before: ((metadata: PackageMetadata) => Promise<unknown>)[] = [
    () => Promise.resolve(),
    (metadata) => fetchContent(metadata),
    (metadata) => sendReceipt(cars, metadata, 'received'),
    (metadata) => sendReceipt(cars, metadata, 'rejected'),
  ]
  for (const reach of before) {
    const metadata = await sent()
    await reach(metadata)
    assertSuccess(await sendRevocation(seats, metadata), 'revokePackage')
  }
  const opened = await sent()
  await sendReceipt(cars, opened, 'opened')
  assertProblem(await sendRevocation(seats, opened), 'invalid_state_transition', { state: 'opened' })
  assert.equal((await fetchContent(opened)).status, 200)
  const responded = await sent()
  await sendPackage(cars, seats, { threadId: responded.thread_id, respondsTo: responded.package_id })
  assertProblem(await sendRevocation(seats, responded), 'invalid_state_transition', { state: 'responded' })
})

test('[PKG-10][ERR-03] a package is revoked once', async () => {
  const metadata = await sent()
  const answers = await Promise.all(Array.from({ length: 4 }, () => sendRevocation(seats, metadata)))
  assert.deepEqual(
    answers.map(({ status }) => status).toSorted((a, b) => a - b),
    [200, 409, 409, 409],
  )
  assertProblem(await sendRevocation(seats, metadata), 'invalid_state_transition', { state: 'revoked' })
  const rows = await world.sql`select from package_revocation where package_id = ${metadata.package_id}`
  assert.equal(rows.length, 1)
})

test('[PKG-10][AUTH-03] only the sender’s organization revokes, each agent with its own key', async () => {
  const metadata = await sent()
  const neighbour = await secondAgent(seats)
  const path = `/v1/packages/${metadata.package_id}/revoke`
  assertProblem(await sendRevocation(cars, metadata), 'not_permitted', { reason: 'not_the_sender' })
  const foreign = await sendRevocation(steel, metadata)
  assertProblem(foreign, 'resource_not_found', {})
  const missing = await sendRevocation(seats, { ...metadata, package_id: freshId('pkg') })
  assertProblem(missing, 'resource_not_found', {})
  // By a client of another agent of the organization, or by that agent with the sender's key id.
  const bound = await boundToAgent(neighbour)
  assertProblem(await bound.post(path, await revocationBody(seats, metadata)), 'not_permitted', {})
  const forged = { ...seats, signing: { ...neighbour.signing, keyId: seats.signing.keyId } }
  assertProblem(await sendRevocation(forged, metadata), 'signature_invalid')
  // The valid statement, submitted by the recipient.
  assertProblem(await cars.post(path, await revocationBody(seats, metadata)), 'not_permitted')
  assert.equal(await stateOf(metadata), 'encrypted_available')
  const own = await boundToAgent(seats)
  assertSuccess(await own.post(path, await revocationBody(seats, metadata)), 'revokePackage')
})

test('[PKG-10] a change of any signed member is refused, and members have limits', async () => {
  const metadata = await sent()
  const body = await revocationBody(seats, metadata)
  const path = `/v1/packages/${metadata.package_id}/revoke`
  for (const change of [
    { requested_at: '2026-05-01T00:00:00Z' },
    { reason_code: 'x' },
    { reason_detail: 'x' },
  ]) {
    assertProblem(await seats.post(path, { ...body, ...change }), 'signature_invalid')
  }
  const { reason_detail: _detail, ...partial } = body as { reason_detail: string }
  assertProblem(await seats.post(path, partial), 'validation_failed')
  assertProblem(await seats.post(path, { ...body, reason_detail: 'x'.repeat(4_097) }), 'validation_failed')
})

test('[PKG-10][PKG-12] an expired package may still be revoked', async () => {
  const expires_at = new Date(Date.parse(world.clock.now()) + 60_000).toISOString()
  const { metadata } = await sendPackage(seats, cars, { metadata: { expires_at } })
  world.clock.advance(61)
  assertSuccess(await sendRevocation(seats, metadata), 'revokePackage')
  assertProblem(await fetchContent(metadata), 'package_revoked')
})

test('[PKG-10][AUD-03] the revocation cannot be changed, deleted or truncated', async () => {
  await assert.rejects(world.sql`update package_revocation set body = ''`, /append-only/)
  await assert.rejects(world.sql`delete from package_revocation`, /append-only/)
  await assert.rejects(world.sql`truncate package_revocation`, /append-only/)
})
