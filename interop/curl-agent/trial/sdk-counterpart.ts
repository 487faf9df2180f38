import assert from 'node:assert/strict'
import { verifyCapsule } from '@agent-exchange/log'
import type { PolicyEnvelope } from '@agent-exchange/protocol'
import { connect, createMemoryKeyStore, makeAgentKeys } from '@agent-exchange/sdk'
import { newObject } from '@agent-exchange/sdk/internal'
import { freshId, type World } from '@agent-exchange/testkit'
import type { Counterpart } from './counterpart.ts'
import { provision } from './shell-agent.ts'

const SKILL = { id: 'skill_alignment', version: '1.0.0' }

/** An agent built with the SDK. */
export interface SdkCounterpart extends Counterpart {
  /** The fingerprint, for comparison over another channel. */
  readonly fingerprint: string
  trust(agentId: string, fingerprint: string): Promise<void>
  /** Fails where the evidence contradicts itself. */
  judgeEvidence(threadId: string): Promise<void>
}

export async function sdkCounterpart(world: World): Promise<SdkCounterpart> {
  const identity = { organizationId: freshId('org'), agentId: freshId('agent') }
  const now = () => new Date(world.clock.now())
  const keys = createMemoryKeyStore()
  const { client } = await makeAgentKeys(keys, { identity, now })
  await provision(world, '/organizations', {
    organization_id: identity.organizationId,
    name: 'Built on the SDK',
  })
  const { client_id: clientId } = await provision(world, '/clients', {
    organization_id: identity.organizationId,
    agent_id: identity.agentId,
    public_jwk: client.publicJwk,
  })
  const agent = await connect({ baseUrl: world.url, clientId: String(clientId), identity, keys, now })
  await agent.register({
    implementation: 'interop trial',
    implementationVersion: '1.0.0',
    skillVersions: { [SKILL.id]: SKILL.version },
  })
  const policyFor = (to: string): PolicyEnvelope =>
    newObject('policy_envelope', { by: identity, to, now: now() })

  return {
    ...identity,
    name: 'the SDK',
    fingerprint: await agent.fingerprint(),
    trust: async (agentId, fingerprint) => void (await agent.trust(agentId, fingerprint)),
    async judgeEvidence(threadId) {
      const { capsule } = await agent.capsule({ threadId }, { waitMs: 0 })
      const { contradictions } = await verifyCapsule(capsule)
      assert.deepEqual(contradictions, [])
    },
    async open(packageId) {
      const { object, receipts } = await agent.open(packageId)
      assert.deepEqual(
        receipts.map(({ state }) => state),
        ['received', 'opened'],
      )
      return { ...object }
    },
    async send(to) {
      const policy = policyFor(to.organizationId)
      const terms = { by: identity, to: to.organizationId, now: now(), policyId: policy.policy_id }
      const object = newObject('reasoning_package', terms)
      await agent.send({ object, policy, to, skill: SKILL })
      return object
    },
    async respond(packageId, threadId) {
      const { metadata: original } = await agent.open(packageId)
      const to = original.sender_org_id
      const policy = policyFor(to)
      const terms = { by: identity, to, now: now(), threadId, about: packageId, policyId: policy.policy_id }
      const object = newObject('response_object', terms)
      const sent = await agent.respond(packageId, { object, policy, skill: SKILL })
      return { packageId: sent.packageId, object }
    },
  }
}
