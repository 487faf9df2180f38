import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  addKey,
  assertProblem,
  assertSuccess,
  draftPackage,
  freshId,
  organizations,
  revokeKey,
  secondAgent,
  startWorld,
  submit,
  type DraftOptions,
  type Organization,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const [seats, cars, steel] = await organizations(world, 'seats', 'cars', 'steel')

async function answerTo(to: Organization, options?: DraftOptions) {
  return submit(seats, await draftPackage(seats, to, options))
}

const incapable = async (to: Organization, reason: string, options?: DraftOptions) =>
  assertProblem(await answerTo(to, options), 'recipient_not_capable', { reason })

test('[PKG-15][ERR-03] a recipient that is unknown or belongs to another organization is refused', async () => {
  await incapable({ ...cars, agentId: freshId('agent') }, 'agent_unknown')
  await incapable({ ...cars, organizationId: steel.organizationId }, 'agent_unknown')
  await incapable({ ...cars, organizationId: freshId('org') }, 'agent_unknown')
  await incapable({ ...cars, agentId: 'agent_platform', organizationId: 'org_platform' }, 'transport_mode')
})

test('[PKG-15] a recipient that is not active, or whose organization is suspended, is refused', async () => {
  const [agent, organization] = [await secondAgent(cars), await world.organization('dormant')]
  await world.operate('POST', `/agents/${agent.agentId}/status`, { status: 'paused', reason: 'test' })
  await incapable(agent, 'agent_not_active')
  await world.operate('POST', `/agents/${agent.agentId}/status`, { status: 'active', reason: 'test' })
  assertSuccess(await answerTo(agent), 'createPackageTransfer')
  await world.operate('POST', `/organizations/${organization.organizationId}/suspend`, { reason: 'test' })
  await incapable(organization, 'agent_not_active')
})

test('[PKG-15] a sending agent that is not active is refused', async () => {
  const agent = await secondAgent(seats)
  const draft = await draftPackage(agent, cars)
  await seats.post('/v1/policy-receipts', draft.receipt)
  await world.operate('POST', `/agents/${agent.agentId}/status`, { status: 'paused', reason: 'test' })
  assertProblem(await submit(agent, await draftPackage(agent, cars)), 'not_permitted', {
    reason: 'agent_not_active',
  })
})

test('[PKG-15] a recipient without a usable encryption key is refused', async () => {
  const keyless = await secondAgent(cars)
  await revokeKey(keyless, keyless.encryption.keyId, '2026-01-02T00:00:00Z')
  await incapable(keyless, 'encryption_key')
})

test('[PKG-15] a recipient without the transport mode is refused', async () => {
  await incapable(await world.organization('connected', { transportModes: ['ds_x'] }), 'transport_mode')
  await incapable(await world.organization('nowhere', { transportModes: [] }), 'transport_mode')
})

test('[PKG-06][ERR-03] an incompatible version is refused with the versions that the recipient supports', async () => {
  const incompatible = async (to: Organization, supported_versions: string[], version?: string) => {
    const options = version === undefined ? {} : { metadata: { protocol_version: version } }
    assertProblem(await answerTo(to, options), 'protocol_version_incompatible', { supported_versions })
  }
  await incompatible(cars, ['svc/1.0'], 'svc/2.0')
  await incompatible(cars, ['svc/1.0'], 'anything at all')
  const modern = await world.organization('modern', { protocolVersions: ['svc/2.0', 'svc/3.0'] })
  await incompatible(modern, ['svc/2.0', 'svc/3.0'])
  await incompatible(modern, ['svc/2.0', 'svc/3.0'], 'svc/2.0')
  const both = await world.organization('both', { protocolVersions: ['svc/1.0', 'svc/2.0'] })
  await incompatible(both, ['svc/1.0'], 'svc/2.0')
  assertSuccess(await answerTo(both), 'createPackageTransfer')
})

test('[PKG-12][ERR-03] expires_at must be later than created_at and than now', async () => {
  const [created_at, same] = ['2026-03-01T09:30:00.5Z', '2026-03-01T09:30:00.500+00:00']
  for (const expires_at of [same, '2026-03-01T09:30:00.4Z', '2025-03-01T09:30:00Z']) {
    const answer = await answerTo(cars, { metadata: { created_at, expires_at } })
    assertProblem(answer, 'validation_failed')
    assert.match(answer.text, /expires_at/)
  }
  const past = { created_at, expires_at: '2026-03-01T09:30:00.5000001Z' }
  assertProblem(await answerTo(cars, { metadata: past }), 'package_expired', {})
  const later = new Date(Date.parse(world.clock.now()) + 60_000).toISOString()
  assertSuccess(
    await answerTo(cars, { metadata: { created_at, expires_at: later } }),
    'createPackageTransfer',
  )
})

test('[PKG-12][OBJ-19] times with many digits, a leap second or a distant year are accepted', async () => {
  const digits = '1'.repeat(200)
  const metadata = [
    { created_at: `2026-03-01T09:30:00.${digits}Z` },
    { expires_at: `2096-03-01T09:30:00.${digits}Z` },
    { expires_at: '2096-12-31T23:59:60Z' },
    { expires_at: '9999-12-31T23:59:59.999999Z' },
    { expires_at: '9999-12-31T23:59:59.9999999Z' },
  ]
  for (const times of metadata) {
    const draft = await draftPackage(seats, cars, {
      metadata: times,
      receipt: { evaluated_at: '2026-02-01T00:00:00Z', human_approval: { required: false } },
    })
    assertSuccess(await submit(seats, draft), 'createPackageTransfer')
    const read = await cars.get(`/v1/packages/${draft.metadata.package_id}`)
    assert.deepEqual(read.body['metadata'], draft.metadata)
    assert.equal((await cars.get(String(read.body['ciphertext_download_url']))).status, 200)
  }
})

test('[ID-05][OBJ-19] a key and a package from the year 0 are accepted', async () => {
  const old = await addKey(seats, 'signing', { validFrom: '0000-01-01T00:00:00Z' })
  const encryption = await addKey(seats, 'encryption', { validFrom: '0000-01-01T00:00:00Z' })
  const theirs = await addKey(cars, 'encryption', { validFrom: '0000-01-01T00:00:00Z' })
  const draft = await draftPackage(
    { ...seats, signing: old, encryption },
    { ...cars, encryption: theirs },
    {
      metadata: { created_at: '0000-03-01T00:00:00Z', expires_at: '2096-01-01T00:00:00Z' },
    },
  )
  assertSuccess(await submit(seats, draft), 'createPackageTransfer')
})

test('[PKG-04][PKG-15] an agent may send to itself and to another agent of its organization', async () => {
  assertSuccess(await answerTo(seats), 'createPackageTransfer')
  assertSuccess(await answerTo(await secondAgent(seats)), 'createPackageTransfer')
})
