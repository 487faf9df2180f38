import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startWorld } from '@agent-exchange/testkit'
import { rotateKey } from '../agent-keys/rotate-key.ts'
import { startAgent, type TestAgent } from '../agents.fixture.ts'
import { ExchangeError } from '../errors.ts'
import { behindLiar, sendCrafted } from '../send/crafted.fixture.ts'
import { openPackage } from './open-package.ts'
import { currentSigningKey } from '../agent-keys/own-keys.ts'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const bolt = await startAgent(world, 'bolt')

/** Longer than a directory is believed without asking again. */
const A_WHILE = 60

async function revokeSigningKey(agent: TestAgent, invalidFrom: string): Promise<void> {
  const { keyId } = await currentSigningKey(agent)
  await retire(agent, keyId, invalidFrom)
  world.clock.advance(A_WHILE)
}

async function retire(agent: TestAgent, keyId: string, invalidFrom: string): Promise<void> {
  await agent.connection.call('revokeAgentKey', {
    path: { agent_id: agent.identity.agentId, key_id: keyId },
    body: { invalid_from: invalidFrom, reason_code: 'compromise', evidence_reference: 'case_1' },
  })
}

const refused = (code: string) => (error: unknown) => {
  assert.ok(error instanceof ExchangeError)
  assert.equal(error.code, code, error.message)
  return true
}

test('[ID-05] what was created and accepted before the key went bad still opens, by signed evidence', async () => {
  const acme = await startAgent(world, 'acme')
  const sent = await sendCrafted(acme, bolt)
  world.clock.advance(A_WHILE)
  await revokeSigningKey(acme, world.clock.now())
  const { object } = await openPackage(bolt, sent.package_id)
  assert.equal(object.id, sent.package_id)
})

test('[ID-05] what was accepted after the key went bad is rejected', async () => {
  const acme = await startAgent(world, 'acme')
  const stolen = world.clock.now()
  world.clock.advance(A_WHILE)
  const sent = await sendCrafted(acme, bolt)
  await revokeSigningKey(acme, stolen)
  await assert.rejects(openPackage(bolt, sent.package_id), refused('peer_key_revoked'))
  const { receipts } = await acme.connection.call('getPackageAuditEvidence', {
    path: { package_id: sent.package_id },
  })
  assert.deepEqual(
    receipts.map(({ state }) => state),
    ['rejected'],
  )
})

test('[ID-05] a thief who writes an earlier time is caught by the time of acceptance', async () => {
  const acme = await startAgent(world, 'acme')
  const early = world.clock.now()
  world.clock.advance(A_WHILE)
  const stolen = world.clock.now()
  world.clock.advance(A_WHILE)
  const backdated = await sendCrafted({ ...acme, now: () => new Date(early) }, bolt, {
    metadata: { expires_at: '2099-01-01T00:00:00Z' },
  })
  await revokeSigningKey(acme, stolen)
  await assert.rejects(openPackage(bolt, backdated.package_id), refused('peer_key_revoked'))
  // An exchange that helps the thief would have to forge what the platform signed.
  const forged = behindLiar(bolt, /\/v1\/audit\/packages\//, (text) =>
    text.replaceAll(/"accepted_at":"[^"]*"/g, `"accepted_at":"${early}"`),
  )
  await assert.rejects(openPackage(forged, backdated.package_id), refused('peer_key_revoked'))
})

test('[ID-05][POL-04] a policy receipt is judged by its own arrival: its key may be retired before the package arrives', async () => {
  const acme = await startAgent(world, 'acme')
  const first = await currentSigningKey(acme)
  const sent = await sendCrafted(acme, bolt, {
    beforePackage: async () => {
      await rotateKey(acme, 'signing')
      world.clock.advance(A_WHILE)
      await retire(acme, first.keyId, world.clock.now())
      world.clock.advance(A_WHILE)
    },
  })
  const { object, policyReceipt, senderKey } = await openPackage(bolt, sent.package_id)
  assert.equal(object.id, sent.package_id)
  assert.equal(policyReceipt.receipt.signature.key_id, first.keyId)
  assert.notEqual(senderKey.keyId, first.keyId)
})

test('[ID-05] a policy receipt that arrived after its key went bad is rejected, whatever the resource says', async () => {
  const acme = await startAgent(world, 'acme')
  const first = await currentSigningKey(acme)
  const stolen = world.clock.now()
  world.clock.advance(A_WHILE)
  const sent = await sendCrafted(acme, bolt, {
    beforePackage: async () => void (await rotateKey(acme, 'signing')),
    receipt: { evaluated_at: stolen },
  })
  await retire(acme, first.keyId, stolen)
  const early = new Date(Date.parse(stolen) - 1_000).toISOString()
  const lying = behindLiar(bolt, /\/v1\/policy-receipts\//, (text) =>
    text.replace(/"accepted_at":"[^"]*"/, `"accepted_at":"${early}"`),
  )
  await assert.rejects(openPackage(lying, sent.package_id), refused('peer_key_revoked'))
})

test('[ID-05] a key that was not valid yet when its package arrived does not count, by signed evidence', async () => {
  const acme = await startAgent(world, 'acme')
  const { keyId } = await currentSigningKey(acme)
  const sent = await sendCrafted(acme, bolt, {
    metadata: { created_at: new Date(Date.parse(world.clock.now()) + A_WHILE * 1_000).toISOString() },
  })
  // As an exchange that judged by the claim alone would have stored it.
  const from = new Date(Date.parse(world.clock.now()) + 1_000).toISOString()
  await world.sql`update agent_key set valid_from = ${from} where key_id = ${keyId}`
  world.clock.advance(A_WHILE)
  await assert.rejects(openPackage(bolt, sent.package_id), refused('signature_invalid'))
})

test('[ID-05] an exchange that misstates the arrival gets no signed rejection of an honest package', async () => {
  const acme = await startAgent(world, 'acme')
  const sent = await sendCrafted(acme, bolt)
  const lying = behindLiar(bolt, /\/v1\/packages\/[^/]+$/, (text) => {
    const resource = JSON.parse(text) as Record<string, unknown>
    return JSON.stringify({ ...resource, created_at: '2020-01-01T00:00:00Z' })
  })
  const { object } = await openPackage(lying, sent.package_id)
  assert.equal(object.id, sent.package_id)
})

test('[ID-05] the first package of an agent whose clock is ahead is accepted and opens', async () => {
  const ahead = () => new Date(Date.parse(world.clock.now()) + 20_000)
  const acme = await startAgent(world, 'acme', { now: ahead })
  const sent = await sendCrafted(acme, bolt)
  assert.equal((await openPackage(bolt, sent.package_id)).object.id, sent.package_id)
})
