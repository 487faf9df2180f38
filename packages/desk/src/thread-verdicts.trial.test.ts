import assert from 'node:assert/strict'
import { test } from 'node:test'
import { parsePolicy } from '@agent-exchange/log'
import { cosignedCapsule, QUICK_LOG, startWorld, until } from '@agent-exchange/testkit'
import { SKILL, startTwoDesks } from './desk.fixture.ts'
import { createThreadVerdicts, type VerdictOutcome } from './thread-verdicts.ts'
import type { DeskAgent } from './desk-agent.ts'
import { evidenceSection } from './evidence-part.ts'
import { ExchangeError, type ThreadStory } from '@agent-exchange/sdk'

test('with the log policy of the agent, a witnessed conversation is proven; without one nothing is', async () => {
  await using world = await startWorld({ profile: QUICK_LOG, config: { role: 'all' } })
  await using desks = await startTwoDesks(world)
  const { agent } = desks.acme
  const policy = agent.make.policyEnvelope({ to: 'org_bolt', purpose: 'supply planning' })
  const object = agent.make.reasoningPackage({
    to: 'org_bolt',
    policy,
    summary: 'Rails are short.',
    facts: ['A coil moved.'],
    ask: 'Confirm week 13.',
  })
  const sent = await agent.send({ object, policy, to: desks.bolt.agent.identity, skill: SKILL })
  const { threadId } = sent
  const collected = await until('the log holds the package', async () => {
    const found = await agent.capsule({ threadId }, { waitMs: 0 })
    return found.pending.length === 0 && found
  })
  assert.ok(collected.capsule.format === 'aex-evidence/3')
  const { capsule, policy: text } = await cosignedCapsule(collected.capsule)
  const verdictOf = async (logPolicy?: DeskAgent['logPolicy']) => {
    const shown = {
      profile: agent.context.deployment.profile,
      names: async () => ({}),
      evidence: async () => ({ ...collected, capsule }),
      ...(logPolicy && { logPolicy }),
    } as unknown as DeskAgent
    const [verdicts, now] = [createThreadVerdicts(shown), new Date()]
    const isVerdict = (found: VerdictOutcome) =>
      found !== 'late' && !(found instanceof ExchangeError) && found
    return until('the evidence is verified', async () => isVerdict(await verdicts.find(threadId, [], now)))
  }
  assert.equal((await verdictOf()).word, 'consistent')
  const proven = await verdictOf(parsePolicy(text))
  assert.equal(proven.word, 'proven')
  const part = evidenceSection({ threadId } as ThreadStory, proven, { csrfToken: '', canDisclose: false })
  assert.match(String(part), /badge good[^]*Proven<[^]*Proven: org_acme sent this package/u)
})
