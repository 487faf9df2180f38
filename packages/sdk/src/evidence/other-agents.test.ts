import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { signPackageStatement } from '@agent-exchange/crypto'
import { QUICK_LOG, startWorld } from '@agent-exchange/testkit'
import { verifyCapsule, type CapsuleResult } from '@agent-exchange/log'
import { revokeKey } from '../agent-keys/revoke-key.ts'
import { startAgent } from '../agents.fixture.ts'
import { inputFor } from '../send/drafts.fixture.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { currentSigningKey } from '../agent-keys/own-keys.ts'
import { sendPackageReceipt } from '../open/package-receipts.ts'
import { sendPackage } from '../send/send-package.ts'
import { readCapsule } from './read-capsule.ts'

const world = await startWorld({ profile: QUICK_LOG, config: { role: 'all' } })
after(() => world[Symbol.asyncDispose]())
const acme = await startAgent(world, 'acme')
const bolt = await startAgent(world, 'bolt')

async function reportOn(packageId: string): Promise<CapsuleResult> {
  const { capsule } = await readCapsule(bolt, { packageId })
  const result = await verifyCapsule(capsule)
  assert.deepEqual(result.contradictions, [])
  return result
}

test('[PKG-08][PKG-10] evidence names other agents of the parties that signed, with the keys that prove it', async () => {
  const [forAcme, forBolt] = [
    await startAgent(world, 'acme_two', { colleagueOf: acme }),
    await startAgent(world, 'bolt_two', { colleagueOf: bolt }),
  ]
  const { packageId } = await sendPackage(acme, inputFor(acme, bolt), { outbox: createMemoryOutbox() })
  const path = { package_id: packageId }
  const resource = await forBolt.connection.call('getPackage', { path })
  await sendPackageReceipt(forBolt, resource, 'received')
  const body = { requested_at: world.clock.now(), reason_code: 'superseded', reason_detail: 'Newer.' }
  const signature = await signPackageStatement(body, { ...(await currentSigningKey(forAcme)), packageId })
  await forAcme.connection.call('revokePackage', { path, body: { ...body, signature } })

  const report = await reportOn(packageId)
  assert.deepEqual(report.states, [{ packageId, state: 'revoked', signedState: 'revoked' }])
  const signers = report.checks.flatMap(({ code, agent_id, values }) =>
    values?.['role'] === 'other' ? [`${code} ${agent_id}`] : [],
  )
  assert.deepEqual(signers, [
    `receipt_signature ${forBolt.identity.agentId}`,
    `revocation_signature ${forAcme.identity.agentId}`,
  ])
  const words = report.exchangeClaims.filter(({ code }) => code === 'membership')
  assert.deepEqual(
    words.map(({ value }) => value),
    [forBolt, forAcme].map(({ identity }) => ({
      agent_id: identity.agentId,
      organization_id: identity.organizationId,
    })),
  )
})

test('[ID-04][ID-05] of a planned and an emergency revocation evidence shows both, and the earlier cutoff counts', async () => {
  const carl = await startAgent(world, 'carl')
  const stolen = new Date(world.clock.now())
  world.clock.advance(10)
  const { packageId } = await sendPackage(carl, inputFor(carl, bolt), { outbox: createMemoryOutbox() })
  const { keyId } = await currentSigningKey(carl)
  const why = { reasonCode: 'retirement', evidenceReference: 'case_1' }
  const planned = new Date(stolen.getTime() + 86_400_000)
  await revokeKey(carl, keyId, { ...why, invalidFrom: planned })
  const before = await reportOn(packageId)
  assert.ok(!before.checks.some(({ result }) => result === 'doubt'))
  assert.match(JSON.stringify(before.checks), /disowned_later/)
  await revokeKey(carl, keyId, { ...why, invalidFrom: stolen })
  const later = await reportOn(packageId)
  assert.ok(later.checks.some(({ result }) => result === 'doubt'))
  const record = JSON.stringify(later.exchangeClaims.filter(({ code }) => code === 'key_record'))
  for (const time of [planned, stolen]) assert.ok(record.includes(time.toISOString()), record)
})
