import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sha256Digest, signManifest, verifyManifest } from '@agent-exchange/crypto'
import type { DsxPackageBody, EdcReferences, Failure } from '@agent-exchange/protocol'
import {
  approveConnector,
  assertProblem,
  assertSuccess,
  draftPackage,
  organizations,
  sendPackage,
  sendReceipt,
  sendRevocation,
  startWorld,
  submit,
  type Answer,
  type Organization,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const [seats, cars, plain] = await organizations(world, 'seats', 'cars', 'plain')
const connectorId = await approveConnector(seats)
const theirs = await approveConnector(cars)
const dsx = { connectorId }

const setConnector = (organization: Organization, connector: string, verb: string) =>
  world.operate('POST', `/organizations/${organization.organizationId}/connectors/${connector}/${verb}`, {
    reason: 'test',
  })

test('[PKG-03][PKG-04][O-24] a manifest is accepted without content, and the parties read and verify it', async () => {
  const draft = await draftPackage(seats, cars, { dsx })
  const answer = await submit(seats, draft)
  assertSuccess(answer, 'createPackageTransfer')
  const body = draft.body as DsxPackageBody
  const { package_id: id } = draft.metadata
  for (const reader of [seats, cars]) {
    const read = await reader.get(`/v1/packages/${id}`)
    assertSuccess(read, 'getPackage')
    assert.equal(read.body['state'], 'accepted')
    assert.equal(read.body['ciphertext_download_url'], undefined)
    const { metadata, edc, sender_signature } = read.body
    const manifest = { transport_mode: 'ds_x', metadata, edc, sender_signature }
    assert.deepEqual(manifest, body)
    await verifyManifest(manifest, seats.signing.pair.publicKey)
    assertProblem(await reader.get(`/content/packages/${id}`), 'resource_not_found')
  }
  assert.equal((await world.sql`select from package_content where package_id = ${id}`).length, 0)
  assertProblem(await plain.get(`/v1/packages/${id}`), 'resource_not_found')
})

test('[PKG-03] contract_agreement_id and transfer_process_id are optional; the latter means that the transfer has started', async () => {
  const { metadata } = await sendPackage(seats, cars, {
    dsx: { connectorId, contractAgreementId: 'agreement_1', transferProcessId: 'process_1' },
  })
  const read = await cars.get(`/v1/packages/${metadata.package_id}`)
  assert.equal(read.body['state'], 'transfer_started')
  const edc = read.body['edc'] as EdcReferences
  assert.deepEqual([edc.contract_agreement_id, edc.transfer_process_id], ['agreement_1', 'process_1'])
})

test('[PKG-03] every member of the manifest is signed, and unknown members are refused', async () => {
  const { body, receipt } = await draftPackage(seats, cars, { dsx })
  await seats.post('/v1/policy-receipts', receipt)
  const manifest = body as DsxPackageBody
  const { edc, metadata } = manifest
  const other = await sha256Digest(Buffer.from('other'))
  for (const change of [
    { edc: { ...edc, asset_digest: other } },
    { edc: { ...edc, asset_id: 'asset_other' } },
    { edc: { ...edc, connector_id: 'connector_other' } },
    { edc: { ...edc, transfer_process_id: 'process_added' } },
    { metadata: { ...metadata, content_digest: other } },
    { metadata: { ...metadata, expires_at: '2090-01-01T00:00:00Z' } },
  ]) {
    const answer = await seats.post('/v1/packages', { ...manifest, ...change })
    assertProblem(answer, 'signature_invalid', { reason: 'signature_mismatch' })
  }
  const { asset_digest: _digest, ...withoutDigest } = edc
  for (const change of [
    { payload: 'CANARY' },
    { transport_mode: 'native' },
    { edc: { ...edc, access_token: 'CANARY' } },
    { edc: withoutDigest },
    { sender_signature: { ...manifest.sender_signature, algorithm: 'ES384' } },
    { edc: { ...edc, asset_id: 'a'.repeat(257) } },
  ]) {
    const answer = await seats.post('/v1/packages', { ...manifest, ...change })
    assertProblem(answer, 'validation_failed')
    assert.doesNotMatch(answer.text, /CANARY/)
  }
  assertSuccess(await seats.post('/v1/packages', manifest), 'createPackageTransfer')
})

test('[PKG-03] the connector must be an approved one of the sender’s organization', async () => {
  for (const connector of ['connector_unknown', theirs]) {
    const answer = await submit(seats, await draftPackage(seats, cars, { dsx: { connectorId: connector } }))
    assertProblem(answer, 'connector_not_approved', { party: 'sender' })
  }
})

test('[PKG-05][ERR-03] if both connectors are approved native is refused, otherwise ds_x', async () => {
  const native = await submit(seats, await draftPackage(seats, cars))
  assertProblem(native, 'transport_mode_mismatch', { required_mode: 'ds_x' })
  const connected = await submit(seats, await draftPackage(seats, plain, { dsx }))
  assertProblem(connected, 'transport_mode_mismatch', { required_mode: 'native' })
  assertSuccess(await submit(seats, await draftPackage(seats, plain)), 'createPackageTransfer')
})

test('[PKG-01][PKG-03] a body whose metadata name the other mode is invalid, whatever the mode of its thread', async () => {
  const placesOf = (answer: Answer) => {
    assertProblem(answer, 'validation_failed')
    assert.equal(answer.status, 422)
    const { failures } = answer.body['details'] as { failures: Failure[] }
    return failures.map(({ pointer, rule }) => [pointer, rule])
  }
  const asDsx = await draftPackage(seats, plain, { metadata: { transport_mode: 'ds_x' } })
  assert.deepEqual(placesOf(await submit(seats, asDsx)), [['/payload/metadata/transport_mode', 'PKG-01']])
  const asNative = await draftPackage(seats, cars, { dsx, metadata: { transport_mode: 'native' } })
  assert.deepEqual(placesOf(await submit(seats, asNative)), [['/metadata/transport_mode', 'PKG-03']])
})

test('[PKG-03][O-35] a manifest has the content type of the specification, a response one of the profile', async () => {
  const refused = { dsx, metadata: { content_type: 'text/plain' } }
  const answer = await submit(seats, await draftPackage(seats, cars, refused))
  assertProblem(answer, 'validation_failed')
  const { failures } = answer.body['details'] as { failures: Failure[] }
  assert.deepEqual(
    failures.map(({ pointer, rule }) => [pointer, rule]),
    [['/metadata/content_type', 'O-35']],
  )
})

test('[PKG-05][PKG-15] an approved pair never falls back: a recipient agent without ds_x receives nothing', async () => {
  const nativeOnly = await world.organization('native_only', { transportModes: ['native'] })
  await approveConnector(nativeOnly)
  const connected = await submit(seats, await draftPackage(seats, nativeOnly, { dsx }))
  assertProblem(connected, 'recipient_not_capable', { reason: 'transport_mode' })
  const native = await submit(seats, await draftPackage(seats, nativeOnly))
  assertProblem(native, 'transport_mode_mismatch', { required_mode: 'ds_x' })
})

test('[PKG-05][O-37] connectors approved later change new threads only', async () => {
  const late = await world.organization('late')
  const { metadata } = await sendPackage(seats, late)
  await approveConnector(late)
  const { thread_id: threadId } = metadata
  await sendPackage(seats, late, { threadId })
  const other = await submit(seats, await draftPackage(seats, late, { threadId, dsx }))
  assertProblem(other, 'transport_mode_mismatch', { required_mode: 'native' })
  await sendPackage(seats, late, { dsx })
  assert.equal((await late.get(`/v1/threads/${threadId}`)).body['transport_mode'], 'native')
})

test('[PKG-05] after a suspension a ds_x thread refuses packages and keeps its mode; after a new approval it continues', async () => {
  const partner = await world.organization('partner')
  const connector = await approveConnector(partner)
  const { metadata } = await sendPackage(seats, partner, { dsx })
  const inThread = { threadId: metadata.thread_id }
  await setConnector(partner, connector, 'suspend')
  const refused = await submit(seats, await draftPackage(seats, partner, { dsx, ...inThread }))
  assertProblem(refused, 'connector_not_approved', { party: 'recipient' })
  const native = await submit(seats, await draftPackage(seats, partner, inThread))
  assertProblem(native, 'transport_mode_mismatch', { required_mode: 'ds_x' })
  const answering = { dsx: { connectorId: connector }, respondsTo: metadata.package_id, ...inThread }
  const response = await submit(partner, await draftPackage(partner, seats, answering))
  assertProblem(response, 'connector_not_approved', { party: 'sender' })
  // A new thread of the two organizations is native.
  await sendPackage(seats, partner)
  await setConnector(partner, connector, 'revoke')
  const gone = await submit(seats, await draftPackage(seats, partner, { dsx, ...inThread }))
  assertProblem(gone, 'connector_not_approved', { party: 'recipient' })
  await world.operate('POST', '/connectors', {
    organization_id: partner.organizationId,
    connector_id: connector,
    participant_id: 'did:web:partner',
    endpoint: 'https://connector.example/protocol',
    reason: 'settled',
  })
  await sendPackage(partner, seats, answering)
})

test('[PKG-08][O-03][O-23] in ds_x a signed receipt with either digest proves the transfer', async () => {
  const draft = await sendPackage(seats, cars, { dsx })
  const { metadata } = draft
  const { asset_digest } = (draft.body as DsxPackageBody).edc
  const stateOf = async () => (await seats.get(`/v1/packages/${metadata.package_id}`)).body['state']
  const wrong = { package_digest: await sha256Digest(Buffer.from('other')) }
  const mismatch = await sendReceipt(cars, metadata, 'received', { change: wrong })
  assertProblem(mismatch, 'digest_mismatch', { member: 'package_digest' })
  const change = { package_digest: asset_digest }
  assertSuccess(await sendReceipt(cars, metadata, 'received', { change }), 'createPackageReceipt')
  assert.equal(await stateOf(), 'received')
  assertSuccess(await sendReceipt(cars, metadata, 'opened'), 'createPackageReceipt')
  assert.equal(await stateOf(), 'opened')
  const native = await sendPackage(seats, plain)
  const asset = await sendReceipt(plain, native.metadata, 'received', { change })
  assertProblem(asset, 'digest_mismatch', { member: 'package_digest' })
})

test('[PKG-10][O-34] in ds_x a revocation does not claim to block access', async () => {
  const { metadata } = await sendPackage(seats, cars, { dsx })
  const revoked = await sendRevocation(seats, metadata)
  assertSuccess(revoked, 'revokePackage')
  const { state, outcome, future_access_blocked } = revoked.body
  assert.deepEqual([state, outcome, future_access_blocked], ['revoked', 'revocation_recorded', false])
  const { package_id: id, thread_id } = metadata
  type Shown = { edc?: object; sender_signature?: object }
  const shownTo = async (reader: Organization): Promise<Shown[]> => [
    (await reader.get(`/v1/packages/${id}`)).body,
    ((await reader.get(`/v1/threads/${thread_id}`)).body['packages'] as Shown[])[0] ?? {},
    (await reader.get(`/v1/audit/packages/${id}`)).body['package'] as Shown,
  ]
  // The exchange cannot block the connector, and hides the references from the recipient.
  for (const { edc, sender_signature } of await shownTo(cars))
    assert.deepEqual([edc, sender_signature], [undefined, undefined])
  for (const { edc, sender_signature } of await shownTo(seats)) assert.ok(edc && sender_signature)
})

test('[ID-05][PKG-03] a manifest signed with another party’s key is refused', async () => {
  const { body } = await draftPackage(seats, cars, { dsx })
  const { sender_signature: _signature, ...manifest } = body as DsxPackageBody
  const { pair, keyId } = cars.signing
  const sender_signature = await signManifest(manifest, { key: pair.privateKey, keyId })
  const answer = await seats.post('/v1/packages', { ...manifest, sender_signature })
  assertProblem(answer, 'signing_key_unusable', { reason: 'unknown' })
  assertProblem(await cars.post('/v1/packages', body), 'not_permitted')
})
