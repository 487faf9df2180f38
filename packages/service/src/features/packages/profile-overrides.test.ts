import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { sha256Digest } from '@agent-exchange/crypto'
import {
  createProfile,
  POLICY_CHECK_IDS,
  type DsxPackageBody,
  type EvidenceEntry,
  type PackageMetadata,
} from '@agent-exchange/protocol'
import {
  approveConnector,
  assertProblem,
  assertSuccess,
  boundToAgent,
  draftPackage,
  organizations,
  receiptBody,
  secondAgent,
  sendPackage,
  sendReceipt,
  sendRevocation,
  startWorld,
  submit,
  type Organization,
} from '@agent-exchange/testkit'

const STATES = [
  'accepted',
  'encrypted_available',
  'transfer_started',
  'delivered',
  'received',
  'opened',
  'responded',
]

/** A deployment that is stricter than the default wherever possible. */
const strict = await startWorld({
  profile: {
    'O-04': { access_states: ['delivered'] },
    'O-10': { states: [...STATES, 'revoked'] },
    'O-17': { content_digest_rules: ['ciphertext-bytes'] },
    'O-21': { scope: 'path' },
    'O-22': { accepted_forms: ['bound'] },
    'O-23': { ds_x_digests: ['asset_digest'] },
    'O-24': { show_references: false },
    'O-25': { parties: ['recipient'] },
    'O-31': { maximum_organizations: 2 },
    'O-36': { parties: ['recipient'] },
    'O-49': { receipt_seconds: 0 },
  },
})
/** A deployment that moves, blocks and records less. */
const lenient = await startWorld({
  profile: {
    'O-03': {
      content_stored: false,
      content_fetched: false,
      receipt_received: false,
      response_accepted: false,
    },
    'O-10': { states: [] },
    'O-26': {
      approval_recorded: [],
      package_accepted: [],
      receipt_received: [],
      response_accepted: ['decision_made'],
      other_target_type: 'sealed',
    },
    'O-27': { blocks: [] },
    'O-36': { agent_clients: 'organization' },
    'O-34': {
      passing_outcomes: ['passed', 'waived'],
      approving_outcomes: ['granted'],
      native_revocation_outcome: 'withdrawn',
    },
    'O-35': { content_types: ['application/svc.response-object+json'] },
    'O-49': { receipt_seconds: 120 },
  },
})
after(() => Promise.all([strict, lenient].map((world) => world[Symbol.asyncDispose]())))
const [seats, cars, steel] = await organizations(strict, 'seats', 'cars', 'steel')
const [paint, glass] = await organizations(lenient, 'paint', 'glass')

/** O-17: sends with the only digest rule of the strict deployment. */
async function sendStrictly(from: Organization, to: Organization, threadId?: string) {
  const probe = await draftPackage(from, to)
  const { jwe } = JSON.parse(
    Buffer.from((probe.body as { payload: string }).payload, 'base64url').toString(),
  ) as { jwe: { ciphertext: string } }
  const content_digest = await sha256Digest(Buffer.from(jwe.ciphertext, 'base64url'))
  const draft = await draftPackage(from, to, {
    reseal: () => jwe,
    metadata: { content_digest },
    ...(threadId !== undefined && { threadId }),
  })
  return { draft, answer: await submit(from, draft) }
}
const sent = async () => (await sendStrictly(seats, cars)).draft.metadata
const eventsOf = async ({ organizationId, world }: Organization, { package_id }: PackageMetadata) =>
  (
    await world.sql`select event_type from notification
      where organization_id = ${organizationId} and package_id = ${package_id} order by sequence`
  ).map((row) => row['event_type'])
const stateOf = async (by: Organization, { package_id }: PackageMetadata) =>
  (await by.get(`/v1/packages/${package_id}`)).body['state']

test('[O-17] only the digest rules of the profile are accepted', async () => {
  assertSuccess((await sendStrictly(seats, cars)).answer, 'createPackageTransfer')
  const other = await submit(seats, await draftPackage(seats, cars))
  assertProblem(other, 'digest_mismatch', { member: 'content_digest' })
})

test('[O-22] a profile may accept bound signatures only', async () => {
  const metadata = await sent()
  assertProblem(await sendReceipt(cars, metadata, 'received', { form: 'plain' }), 'signature_invalid')
  assertProblem(await sendRevocation(seats, metadata, { form: 'plain' }), 'signature_invalid')
  assertSuccess(await sendRevocation(seats, metadata), 'revokePackage')
})

test('[O-04][PKG-10] access that begins at delivered covers every later state', async () => {
  const fetched = await sent()
  await cars.get(`/content/packages/${fetched.package_id}`)
  assertProblem(await sendRevocation(seats, fetched), 'invalid_state_transition', { state: 'delivered' })
  for (const state of ['received', 'opened']) {
    const metadata = await sent()
    await sendReceipt(cars, metadata, state)
    assertProblem(await sendRevocation(seats, metadata), 'invalid_state_transition', { state })
  }
})

test('[O-10][O-25][EVT-01] events of every state go to the recipient alone; implied states emit none', async () => {
  const metadata = await sent()
  await sendReceipt(cars, metadata, 'opened')
  assert.deepEqual(await eventsOf(cars, metadata), ['package.accepted', 'package.opened'])
  const revoked = await sent()
  await sendRevocation(seats, revoked)
  assert.deepEqual(await eventsOf(cars, revoked), ['package.accepted', 'package.revoked'])
  assert.deepEqual([await eventsOf(seats, metadata), await eventsOf(seats, revoked)], [[], []])
})

test('[O-21][API-05] with paths as scope one idempotency key works once per package', async () => {
  const packages = [await sent(), await sent()]
  for (const metadata of packages) {
    const body = await receiptBody(cars, metadata, 'received')
    const path = `/v1/packages/${metadata.package_id}/receipts`
    const answer = await cars.post(path, body, { idempotencyKey: 'one-key' })
    assertSuccess(answer, 'createPackageReceipt')
    const changed = await receiptBody(cars, metadata, 'opened')
    assertProblem(await cars.post(path, changed, { idempotencyKey: 'one-key' }), 'idempotency_key_reuse')
  }
})

test('[O-31] a thread has no more organizations than the profile allows', async () => {
  const { thread_id: threadId } = await sent()
  const { answer } = await sendStrictly(cars, steel, threadId)
  assertProblem(answer, 'quota_reached', { quota: 'maximum_organizations', maximum: 2 })
  assertSuccess((await sendStrictly(cars, seats, threadId)).answer, 'createPackageTransfer')
})

test('[O-36] a profile may let only the recipient download', async () => {
  const metadata = await sent()
  const path = `/content/packages/${metadata.package_id}`
  assertProblem(await seats.get(path), 'resource_not_found', {})
  assert.equal((await cars.get(path)).status, 200)
})

test('[O-23][O-24] in ds_x a profile may hide references and accept receipts by the asset’s digest only', async () => {
  const connectorId = await approveConnector(seats)
  await approveConnector(steel)
  const draft = await sendPackage(seats, steel, { dsx: { connectorId } })
  const read = await steel.get(`/v1/packages/${draft.metadata.package_id}`)
  assert.deepEqual([read.body['edc'], read.body['sender_signature']], [undefined, undefined])
  assertProblem(await sendReceipt(steel, draft.metadata, 'received'), 'digest_mismatch')
  const { asset_digest: package_digest } = (draft.body as DsxPackageBody).edc
  const answer = await sendReceipt(steel, draft.metadata, 'received', { change: { package_digest } })
  assertSuccess(answer, 'createPackageReceipt')
})

const waived = {
  checks: POLICY_CHECK_IDS.map((check_id) => ({ check_id, outcome: 'waived' })),
  human_approval: {
    required: true,
    outcome: 'granted',
    approval_reference: 'approval_4711',
    approved_at: '2026-02-01T00:00:00Z',
  },
}
const approved = { human_approval: waived.human_approval }

test('[O-03][O-10] transitions that move nothing are recorded, and only acceptance emits an event', async () => {
  const { metadata } = await sendPackage(paint, glass, { receipt: approved })
  assert.equal(await stateOf(paint, metadata), 'accepted')
  await glass.get(`/content/packages/${metadata.package_id}`)
  assertSuccess(await sendReceipt(glass, metadata, 'received'), 'createPackageReceipt')
  assert.equal(await stateOf(paint, metadata), 'accepted')
  await sendReceipt(glass, metadata, 'opened')
  assert.equal(await stateOf(paint, metadata), 'opened')
  assert.deepEqual(await eventsOf(glass, metadata), ['package.accepted'])
})

test('[O-36] a deployment may let a client of one agent download for its whole organization', async () => {
  const { metadata } = await sendPackage(paint, glass, { receipt: approved })
  const colleague = await boundToAgent(await secondAgent(glass))
  assert.equal((await colleague.get(`/content/packages/${metadata.package_id}`)).status, 200)
  const { body } = await paint.get(`/v1/audit/packages/${metadata.package_id}`)
  const fetched = (body as unknown as { entries: EvidenceEntry[] }).entries.at(-1)?.proof
  assert.equal(Reflect.get(fetched ?? {}, 'agent_id'), colleague.agentId)
})

test('[O-26][AUD-02] steps without an audit event remain as proof; the two that the specification names keep their events', async () => {
  const { metadata } = await sendPackage(paint, glass, { receipt: approved })
  await sendReceipt(glass, metadata, 'received')
  const contentType = 'application/svc.response-object+json'
  const answering = { threadId: metadata.thread_id, respondsTo: metadata.package_id, contentType }
  const answer = (await sendPackage(glass, paint, { ...answering, receipt: approved })).metadata
  const about = (await glass.get(`/v1/audit/packages/${answer.package_id}`)).body as unknown as {
    entries: EvidenceEntry[]
  }
  assert.deepEqual(
    about.entries.map(({ event }) => event?.target.object_type),
    ['sealed', undefined],
  )
  const revoked = await sendRevocation(paint, metadata)
  assert.equal(revoked.body['outcome'], 'withdrawn')
  const { body } = await paint.get(`/v1/audit/packages/${metadata.package_id}`)
  const { entries } = body as unknown as { entries: EvidenceEntry[] }
  assert.deepEqual(
    entries.map(({ event, proof }) => [proof.kind, event?.event_type]),
    [
      ['policy_receipt_accepted', 'policy_evaluated'],
      ['package_accepted', undefined],
      ['receipt_received', undefined],
      ['response_accepted', 'decision_made'],
      ['package_revoked', 'package_revoked'],
    ],
  )
  assert.ok(entries.some(({ event }) => event?.id === revoked.body['audit_event_id']))
})

test('[O-26][AUD-02] a profile cannot remove the audit events that answers must name', () => {
  for (const step of ['policy_receipt_accepted', 'package_revoked']) {
    assert.equal(createProfile({ 'O-26': { [step]: [] } }).ok, false)
  }
})

test('[O-27][PKG-12] expiry may block neither content nor responses', async () => {
  const expires_at = new Date(Date.parse(lenient.clock.now()) + 60_000).toISOString()
  const { metadata } = await sendPackage(paint, glass, { receipt: approved, metadata: { expires_at } })
  lenient.clock.advance(61)
  assert.equal((await glass.get(`/content/packages/${metadata.package_id}`)).status, 200)
  const contentType = 'application/svc.response-object+json'
  const answering = { threadId: metadata.thread_id, respondsTo: metadata.package_id, contentType }
  await sendPackage(glass, paint, { ...answering, receipt: approved })
})

test('[O-49][ID-05] how far ahead a receipt may be dated comes from the profile', async () => {
  const ahead = (seconds: number, { world }: Organization) => ({
    change: { occurred_at: new Date(Date.parse(world.clock.now()) + seconds * 1_000).toISOString() },
  })
  const strictly = await sendReceipt(cars, await sent(), 'failed', ahead(10, cars))
  assertProblem(strictly, 'validation_failed', {
    failures: [{ pointer: '/occurred_at', rule: 'O-49', message: 'Use a time that is not later than now.' }],
  })
  const { metadata } = await sendPackage(paint, glass, { receipt: approved })
  assertSuccess(await sendReceipt(glass, metadata, 'failed', ahead(110, glass)), 'createPackageReceipt')
})

test('[O-34][O-35] outcomes and content types come from the profile', async () => {
  const { metadata } = await sendPackage(paint, glass, { receipt: waived })
  const usual = await submit(paint, await draftPackage(paint, glass))
  assertProblem(usual, 'policy_receipt_ineligible')
  const answering = { threadId: metadata.thread_id, respondsTo: metadata.package_id, receipt: approved }
  const asPackage = await submit(glass, await draftPackage(glass, paint, answering))
  assertProblem(asPackage, 'envelope_invalid', { reason: 'sealed_content_type' })
})
