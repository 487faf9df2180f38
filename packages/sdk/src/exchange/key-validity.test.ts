import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { isEarlier } from '@agent-exchange/protocol'
import { startWorld } from '@agent-exchange/testkit'
import fc from 'fast-check'
import { startAgent, type TestAgent } from '../agents.fixture.ts'
import { ExchangeError } from '../errors.ts'
import { behindLiar, sendCrafted } from './crafted.fixture.ts'
import { keyFault } from './key-validity.ts'
import { openPackage } from './open-package.ts'
import { currentSigningKey } from './own-keys.ts'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const bolt = await startAgent(world, 'bolt')

/** Longer than a directory is believed without asking again. */
const A_WHILE = 60

async function revokeSigningKey(agent: TestAgent, invalidFrom: string): Promise<void> {
  const { keyId } = await currentSigningKey(agent)
  await agent.connection.call('revokeAgentKey', {
    path: { agent_id: agent.identity.agentId, key_id: keyId },
    body: { invalid_from: invalidFrom, reason_code: 'compromise', evidence_reference: 'case_1' },
  })
  world.clock.advance(A_WHILE)
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

test('[ID-05] a key with an end counts exactly where claim and acceptance lie before it', () => {
  const instant = fc.integer({ min: 0, max: 20 }).map((n) => new Date(Date.UTC(2026, 0, 1) + n).toISOString())
  fc.assert(
    fc.property(
      instant,
      instant,
      instant,
      fc.option(instant, { nil: undefined }),
      (valid_from, claimed, accepted, invalid_from) => {
        const key = { valid_from, status: 'active', ...(invalid_from !== undefined && { invalid_from }) }
        const counts =
          !isEarlier(claimed, valid_from) &&
          (invalid_from === undefined || (claimed < invalid_from && accepted < invalid_from))
        assert.equal(keyFault(key, claimed, accepted) === undefined, counts)
        // Without knowing when it was accepted, a key with an end never counts.
        if (invalid_from !== undefined) assert.notEqual(keyFault(key, claimed, undefined), undefined)
      },
    ),
  )
  assert.equal(
    keyFault({ valid_from: '2026-01-01T00:00:00Z', status: 'revoked' }, '2026-02-01T00:00:00Z', undefined),
    'revoked',
  )
})
