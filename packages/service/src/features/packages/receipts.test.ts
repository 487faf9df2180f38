import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { decodeBase64url, encodeBase64url, sha256Digest } from '@agent-exchange/crypto'
import type { EvidenceEntry, PackageMetadata, Signature } from '@agent-exchange/protocol'
import {
  assertProblem,
  assertSuccess,
  boundToAgent,
  freshId,
  organizations,
  receiptBody,
  revocationBody,
  secondAgent,
  sendPackage,
  sendReceipt,
  sendRevocation,
  startWorld,
  type Organization,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const [seats, cars, steel] = await organizations(world, 'seats', 'cars', 'steel')

const sent = async () => (await sendPackage(seats, cars)).metadata
const stateOf = async ({ package_id }: PackageMetadata) =>
  (await seats.get(`/v1/packages/${package_id}`)).body['state']
const eventsOf = async ({ package_id }: PackageMetadata) =>
  (
    await world.sql`select event_type from notification
      where package_id = ${package_id} and organization_id = ${seats.organizationId} order by sequence`
  ).map((row) => String(row['event_type']))

test('[PKG-08][PKG-11] received and then opened move the package, and each answer repeats the receipt', async () => {
  const metadata = await sent()
  const body = (await receiptBody(cars, metadata, 'received')) as Record<string, unknown>
  const answer = await cars.post(`/v1/packages/${metadata.package_id}/receipts`, body)
  assertSuccess(answer, 'createPackageReceipt')
  const { package_id, accepted_at, ...echo } = answer.body
  assert.deepEqual(echo, body)
  assert.equal(package_id, metadata.package_id)
  assert.ok(Date.parse(String(accepted_at)) > 0)
  assert.equal(await stateOf(metadata), 'received')
  assertSuccess(await sendReceipt(cars, metadata, 'opened'), 'createPackageReceipt')
  assert.equal(await stateOf(metadata), 'opened')
  assert.deepEqual(await eventsOf(metadata), ['package.accepted', 'package.received'])
})

test('[PKG-08][PKG-11] a receipt behind the current state is recorded, moves nothing and emits no event', async () => {
  const metadata = await sent()
  await sendReceipt(cars, metadata, 'opened')
  assert.equal(await stateOf(metadata), 'opened')
  assertSuccess(await sendReceipt(cars, metadata, 'received'), 'createPackageReceipt')
  assertSuccess(await sendReceipt(cars, metadata, 'opened'), 'createPackageReceipt')
  assert.equal(await stateOf(metadata), 'opened')
  assert.deepEqual(await eventsOf(metadata), ['package.accepted'])
  const evidence = await seats.get(`/v1/audit/packages/${metadata.package_id}`)
  const receipts = evidence.body['receipts'] as { state: string }[]
  assert.deepEqual(
    receipts.map(({ state }) => state),
    ['opened', 'received', 'opened'],
  )
})

test('[PKG-08] rejected and failed leave the state unchanged, and the recipient may try again', async () => {
  const metadata = await sent()
  for (const state of ['failed', 'rejected', 'failed']) {
    assertSuccess(await sendReceipt(cars, metadata, state), 'createPackageReceipt')
    assert.equal(await stateOf(metadata), 'encrypted_available')
  }
  assertSuccess(await sendReceipt(cars, metadata, 'received'), 'createPackageReceipt')
  assert.equal(await stateOf(metadata), 'received')
})

test('[PKG-08] any other state is refused', async () => {
  const metadata = await sent()
  for (const state of ['accepted', 'delivered', 'responded', 'revoked', 'Received', '']) {
    assertProblem(await sendReceipt(cars, metadata, state), 'validation_failed')
  }
})

test('[PKG-08][PKG-11][AUD-01] a receipt about a revoked package is recorded, dated and shown, and moves nothing', async () => {
  const metadata = await sent()
  const openedAt = world.clock.now()
  world.clock.advance(60)
  await sendRevocation(seats, metadata)
  const events = await eventsOf(metadata)
  world.clock.advance(60)
  const states = ['received', 'opened', 'rejected', 'failed']
  for (const state of states) {
    const answer = await sendReceipt(cars, metadata, state, { change: { occurred_at: openedAt } })
    assertSuccess(answer, 'createPackageReceipt')
  }
  assert.deepEqual([await stateOf(metadata), await eventsOf(metadata)], ['revoked', events])
  const evidence = await seats.get(`/v1/audit/packages/${metadata.package_id}`)
  const entries = evidence.body['entries'] as EvidenceEntry[]
  const later = entries.slice(entries.findIndex(({ proof }) => proof.kind === 'package_revoked') + 1)
  assert.deepEqual(
    later.map(({ proof }) => proof.kind),
    states.map((state) => `receipt_${state}`),
  )
  for (const { proof } of later as { proof: EvidenceEntry['proof'] & Record<string, unknown> }[]) {
    assert.deepEqual([proof['occurred_at'], proof['state']], [openedAt, undefined])
    assert.ok(String(proof['accepted_at']) > openedAt)
  }
  assert.equal((evidence.body['receipts'] as unknown[]).length, states.length)
  assertProblem(await sendRevocation(seats, metadata), 'invalid_state_transition')
})

test('[PKG-08][O-13] receipts of each state are limited, and many "rejected" do not block "opened"', async () => {
  const small = await startWorld({ profile: { 'O-13': { receipts_per_state: 3 } } })
  await using _ = small
  const [from, to] = await organizations(small, 'from', 'to')
  const { metadata } = await sendPackage(from, to)
  const colleague = await secondAgent(to)
  const flood = async (by: Organization, state: string) =>
    (await Promise.all(Array.from({ length: 6 }, () => sendReceipt(by, metadata, state)))).toSorted(
      (a, b) => a.status - b.status,
    )
  for (const [by, state] of [
    [to, 'rejected'],
    [to, 'failed'],
    [colleague, 'rejected'],
    [colleague, 'opened'],
  ] as const) {
    const answers = await flood(by, state)
    for (const answer of answers.slice(0, 3)) assertSuccess(answer, 'createPackageReceipt')
    for (const answer of answers.slice(3))
      assertProblem(answer, 'quota_reached', { quota: 'receipts_per_state', maximum: 3 })
  }
  assertSuccess(await sendReceipt(to, metadata, 'received'), 'createPackageReceipt')
  assertSuccess(await sendReceipt(to, metadata, 'opened'), 'createPackageReceipt')
  const rows = await small.sql`select from package_receipt where package_id = ${metadata.package_id}`
  assert.equal(rows.length, 4 * 3 + 2)
  assert.equal((await from.get(`/v1/packages/${metadata.package_id}`)).body['state'], 'opened')
})

test('[PKG-08] receipt_id is unique only within a package', async () => {
  const [first, second] = [await sent(), await sent()]
  const change = { receipt_id: 'rcpt_1' }
  assertSuccess(await sendReceipt(cars, first, 'received', { change }), 'createPackageReceipt')
  assertProblem(await sendReceipt(cars, first, 'opened', { change }), 'identifier_conflict', {})
  assert.equal(await stateOf(first), 'received')
  assertSuccess(await sendReceipt(cars, second, 'received', { change }), 'createPackageReceipt')
})

test('[PKG-08][AUTH-03] only the recipient’s organization sends receipts, each agent with its own key', async () => {
  const metadata = await sent()
  const neighbour = await secondAgent(cars)
  for (const [who, refusal] of [
    [seats, 'not_permitted'],
    [steel, 'resource_not_found'],
  ] as const) {
    assertProblem(await sendReceipt(who, metadata, 'received'), refusal)
  }
  // In the recipient's name, by another client or with another key.
  const body = await receiptBody(cars, metadata, 'received')
  const path = `/v1/packages/${metadata.package_id}/receipts`
  assertProblem(await seats.post(path, body), 'signing_key_unusable', { reason: 'unknown' })
  const forged = { ...cars, signing: { ...neighbour.signing, keyId: cars.signing.keyId } }
  assertProblem(await sendReceipt(forged, metadata, 'received'), 'signature_invalid')
  const bound = await boundToAgent(neighbour)
  assertProblem(await bound.post(path, body), 'not_permitted')
  const unknown = { ...metadata, package_id: freshId('pkg') }
  assertProblem(await sendReceipt(cars, unknown, 'received'), 'resource_not_found', {})
  assert.equal(await stateOf(metadata), 'encrypted_available')
})

test('[PKG-08][O-23] the digest must be that of the package', async () => {
  const metadata = await sent()
  const change = { package_digest: await sha256Digest(Buffer.from('other')) }
  const answer = await sendReceipt(cars, metadata, 'received', { change })
  assertProblem(answer, 'digest_mismatch', { member: 'package_digest' })
})

test('[PKG-08] a change of any signed member is refused', async () => {
  const metadata = await sent()
  const path = `/v1/packages/${metadata.package_id}/receipts`
  for (const form of ['bound', 'plain'] as const) {
    const body = await receiptBody(cars, metadata, 'received', { form })
    for (const change of [
      { state: 'opened' },
      { receipt_id: 'rcpt_x' },
      { occurred_at: '2026-05-01T00:00:00Z' },
    ]) {
      const answer = await cars.post(path, { ...body, ...change })
      assertProblem(answer, 'signature_invalid', { reason: 'signature_mismatch' })
    }
    assertProblem(await cars.post(path, { ...body, package_id: metadata.package_id }), 'validation_failed')
  }
})

/** The same ECDSA signature in its other form: (r, n - s) verifies if (r, s) does. */
function mirrored<T extends object>(body: T): T {
  const { signature } = body as { signature: Signature }
  const bytes = Buffer.from(decodeBase64url(signature.signature))
  const order = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n
  const s = order - BigInt(`0x${bytes.subarray(32).toString('hex')}`)
  bytes.set(Buffer.from(s.toString(16).padStart(64, '0'), 'hex'), 32)
  return { ...body, signature: { ...signature, signature: encodeBase64url(bytes) } }
}

test('[PKG-08][PKG-10][O-22] a signature counts for one package, in whatever form it is sent again', async () => {
  const [first, second] = [await sent(), await sent()]
  const bound = await revocationBody(seats, first)
  const elsewhere = await seats.post(`/v1/packages/${second.package_id}/revoke`, bound)
  assertProblem(elsewhere, 'signature_invalid', { reason: 'signature_mismatch' })

  const plain = await revocationBody(seats, first, { form: 'plain' })
  assertSuccess(await seats.post(`/v1/packages/${first.package_id}/revoke`, plain), 'revokePackage')
  for (const again of [plain, mirrored(plain)]) {
    const answer = await seats.post(`/v1/packages/${second.package_id}/revoke`, again)
    assertProblem(answer, 'signature_reused', {})
  }
  assert.equal(await stateOf(second), 'encrypted_available')
})

/** The same signature in its other encodings. */
function respelled<T extends object>(body: T): T[] {
  const { signature } = body as { signature: Signature }
  const bytes = Buffer.from(signature.signature, 'base64url')
  const standard = bytes.toString('base64')
  return [standard, standard.replaceAll('=', ''), `${signature.signature}==`].map((text) => ({
    ...body,
    signature: { ...signature, signature: text },
  }))
}

test('[PKG-08][PKG-10][O-22] a signature may be written in base64 or base64url, padded or not', async () => {
  for (let spelling = 0; spelling < 3; spelling++) {
    const metadata = await sent()
    const receipt = respelled(await receiptBody(cars, metadata, 'received'))[spelling]
    assertSuccess(
      await cars.post(`/v1/packages/${metadata.package_id}/receipts`, receipt),
      'createPackageReceipt',
    )
    const revocation = respelled(await revocationBody(seats, metadata))[spelling]
    assertSuccess(await seats.post(`/v1/packages/${metadata.package_id}/revoke`, revocation), 'revokePackage')
  }
})

test('[PKG-08][PKG-10][O-22] a signature in another encoding is the same signature', async () => {
  const [first, second] = [await sent(), await sent()]
  const plain = await revocationBody(seats, first, { form: 'plain' })
  assertSuccess(await seats.post(`/v1/packages/${first.package_id}/revoke`, plain), 'revokePackage')
  for (const again of respelled(plain)) {
    const answer = await seats.post(`/v1/packages/${second.package_id}/revoke`, again)
    assertProblem(answer, 'signature_reused', {})
  }
  assert.equal(await stateOf(second), 'encrypted_available')
})

test('[PKG-08][O-22] a plain receipt cannot be reused for a package with the same content', async () => {
  const draft = await sendPackage(seats, cars)
  const { jwe } = JSON.parse(
    Buffer.from((draft.body as { payload: string }).payload, 'base64url').toString(),
  ) as { jwe: object }
  const twin = await sendPackage(seats, cars, { reseal: () => jwe })
  assert.equal(twin.metadata.content_digest, draft.metadata.content_digest)
  const body = await receiptBody(cars, draft.metadata, 'received', { form: 'plain' })
  const post = (id: string, receipt: object) => cars.post(`/v1/packages/${id}/receipts`, receipt)
  assertSuccess(await post(draft.metadata.package_id, body), 'createPackageReceipt')
  assertProblem(await post(twin.metadata.package_id, body), 'signature_reused')
  assertProblem(await post(twin.metadata.package_id, mirrored(body)), 'signature_reused')
})

test('[PKG-08][PKG-12][O-27] receipts are accepted after expiry', async () => {
  const expires_at = new Date(Date.parse(world.clock.now()) + 60_000).toISOString()
  const { metadata } = await sendPackage(seats, cars, { metadata: { expires_at } })
  world.clock.advance(61)
  assertSuccess(await sendReceipt(cars, metadata, 'received'), 'createPackageReceipt')
})

test('[PKG-11] concurrent receipts and revocation get one order, and no state follows revoked', async () => {
  const metadata = await sent()
  const answers = await Promise.all([
    sendReceipt(cars, metadata, 'opened'),
    sendRevocation(seats, metadata),
    sendReceipt(cars, metadata, 'received'),
    sendReceipt(cars, metadata, 'failed'),
  ])
  const state = await stateOf(metadata)
  const [opened, revoked] = answers
  assert.ok(state === 'opened' || state === 'revoked')
  assert.equal(opened.status, 201)
  assert.equal(revoked.status, state === 'revoked' ? 200 : 409)
})
