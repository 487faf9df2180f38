import assert from 'node:assert/strict'
import { test } from 'node:test'
import { openPackage, parseEnvelope, verifyEnvelope } from '@agent-exchange/crypto'
import {
  operations,
  validateObject,
  validatorOf,
  type AuditEvent,
  type EvidenceEntry,
  type Named,
  type NotificationEnvelope,
  type OperationId,
} from '@agent-exchange/protocol'
import {
  draftPackage,
  sendReceipt,
  sendRevocation,
  startWorld,
  submit,
  type Answer,
} from '@agent-exchange/testkit'

/** API-02: checks the response against the OpenAPI document. */
function matches(id: OperationId, answer: Answer): void {
  assert.equal(answer.status, operations[id].success.status, answer.text)
  assert.match(answer.headers.get('content-type') ?? '', /^application\/json/)
  const validate = validatorOf(operations[id].success.body as Named<unknown>)
  assert.deepEqual(validate(answer.body), [], id)
}

test('[API-01][PKG-04][PKG-09][PKG-13][EVT-04][AUD-01][AUD-02] two companies: package, receipts, response, evidence', async () => {
  await using world = await startWorld()
  const [seats, cars] = await Promise.all([world.organization('seats'), world.organization('cars')])

  const draft = await draftPackage(seats, cars, { plaintext: Buffer.from('the plaintext') })
  const { metadata } = draft
  const accepted = await submit(seats, draft)
  matches('createPackageTransfer', accepted)
  assert.equal(accepted.body['state'], 'accepted')

  const fetched = await cars.get(`/v1/packages/${metadata.package_id}`)
  matches('getPackage', fetched)
  const content = await cars.get(String(fetched.body['ciphertext_download_url']))
  assert.equal(content.text, JSON.stringify(draft.body))
  const envelope = parseEnvelope(content.text)
  await verifyEnvelope(envelope, seats.signing.pair.publicKey)
  const { plaintext } = await openPackage(envelope.jwe, {
    kid: cars.encryption.keyId,
    privateKey: cars.encryption.pair.privateKey,
  })
  assert.equal(Buffer.from(plaintext).toString(), 'the plaintext')

  matches('createPackageReceipt', await sendReceipt(cars, metadata, 'received'))
  matches('createPackageReceipt', await sendReceipt(cars, metadata, 'opened', { form: 'plain' }))
  const answer = await draftPackage(cars, seats, {
    threadId: metadata.thread_id,
    respondsTo: metadata.package_id,
  })
  matches('createPackageResponse', await submit(cars, answer))
  assert.equal((await seats.get(`/v1/packages/${metadata.package_id}`)).body['state'], 'responded')

  const second = await draftPackage(seats, cars, { threadId: metadata.thread_id })
  await submit(seats, second)
  const revoked = await sendRevocation(seats, second.metadata)
  matches('revokePackage', revoked)
  assert.deepEqual(
    [revoked.body['state'], revoked.body['outcome'], revoked.body['future_access_blocked']],
    ['revoked', 'access_blocked', true],
  )

  const thread = await cars.get(`/v1/threads/${metadata.thread_id}`)
  matches('getThread', thread)
  const packages = thread.body['packages'] as { package_id: string; state: string }[]
  assert.deepEqual(
    packages.map(({ package_id, state }) => [package_id, state]),
    [
      [metadata.package_id, 'responded'],
      [answer.metadata.package_id, 'encrypted_available'],
      [second.metadata.package_id, 'revoked'],
    ],
  )

  for (const organization of [seats, cars]) {
    const page = await organization.get('/v1/notifications')
    matches('listNotifications', page)
    const items = page.body['items'] as NotificationEnvelope[]
    assert.deepEqual(
      items.map(({ sequence, event_type }) => [sequence, event_type]),
      [
        [1, 'package.accepted'],
        [2, 'package.delivered'],
        [3, 'package.received'],
        [4, 'package.accepted'],
        [5, 'package.accepted'],
      ],
    )
  }

  const evidence = await seats.get(`/v1/audit/threads/${metadata.thread_id}`)
  matches('getThreadAuditEvidence', evidence)
  const entries = evidence.body['entries'] as EvidenceEntry[]
  for (const { event } of entries) if (event) assert.deepEqual(validateObject(event).failures, [])
  const kinds = entries.flatMap(({ event }) => (event ? [event.event_type] : []))
  const oneAccepted = ['policy_evaluated', 'human_approved', 'package_created', 'package_sent']
  assert.deepEqual(kinds, [
    ...oneAccepted,
    'package_received',
    ...oneAccepted,
    'response_created',
    ...oneAccepted,
    'package_revoked',
  ])
  const revocation = entries.find(({ event }) => event?.event_type === 'package_revoked')?.event as AuditEvent
  assert.equal(revocation.id, revoked.body['audit_event_id'])

  matches('getPackageAuditEvidence', await cars.get(`/v1/audit/packages/${metadata.package_id}`))
  matches('getPolicyReceipt', await cars.get(`/v1/policy-receipts/${metadata.policy_receipt_id}`))
  matches('getAgent', await cars.get(`/v1/agents/${seats.agentId}`))
  matches('getAgentKeys', await cars.get(`/v1/directory/agents/${seats.agentId}/keys`))
  matches('getNotificationSigningKeys', await cars.get('/v1/directory/notification-keys'))
  matches('listSkillReleases', await cars.get('/v1/skills?protocol_version=svc/1.0&limit=5'))
  const endpoint = await cars.post('/v1/webhook-endpoints', {
    url: 'https://agent.example/hook',
    event_types: ['package.accepted'],
  })
  matches('createWebhookEndpoint', endpoint)
})
