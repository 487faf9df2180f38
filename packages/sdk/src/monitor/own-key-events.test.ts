import type { LoggedKeyEvent } from '@agent-exchange/protocol'
import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startWorld } from '@agent-exchange/testkit'
import { currentKey } from '../agent-keys/make-keys.ts'
import { revokeKey } from '../agent-keys/revoke-key.ts'
import { rotateKey } from '../agent-keys/rotate-key.ts'
import { startAgent, type TestAgent } from '../agents.fixture.ts'
import { fetchKeyEvents } from '../log/log-answers.ts'
import { keyFindings } from './own-key-events.ts'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())

const kinds = async (agent: TestAgent, events: readonly LoggedKeyEvent[], own: number[] = []) =>
  (await keyFindings(agent, events, own)).map(({ kind }) => kind)

test('[ID-04] what the agent did with its keys is no finding: registered, rotated, revoked twice', async () => {
  const acme = await startAgent(world, 'acme')
  const { previous } = await rotateKey(acme, 'signing')
  await rotateKey(acme, 'encryption')
  const why = { reasonCode: 'retirement', evidenceReference: 'case_1' }
  const now = Date.parse(world.clock.now())
  await revokeKey(acme, previous.keyId, { ...why, invalidFrom: new Date(now + 60_000) })
  await revokeKey(acme, previous.keyId, { ...why, invalidFrom: new Date(now) })
  const events = await fetchKeyEvents(acme, acme.identity.agentId)
  assert.equal(events.length, 8)
  assert.deepEqual(await kinds(acme, events), [])
})

test('[O-47] a key event that the agent did not cause is found, until its owner says that it did', async () => {
  const acme = await startAgent(world, 'acme')
  const { agentId } = acme.identity
  const { keyId } = await currentKey(acme.keys, 'signing')
  // As the exchange would record it by itself.
  await acme.connection.call('revokeAgentKey', {
    path: { agent_id: agentId, key_id: keyId },
    body: { invalid_from: world.clock.now(), reason_code: 'operator', evidence_reference: 'none' },
  })
  const events = await fetchKeyEvents(acme, agentId)
  const [finding, ...more] = await keyFindings(acme, events, [])
  assert.deepEqual(more, [])
  assert.equal(finding?.kind, 'foreign_key_event')
  assert.match(finding.sentence, /key event 3 of .* revoked, not valid from .* did not cause it/u)
  assert.deepEqual(await kinds(acme, events, [3]), [])
})

test('[O-47] an own key under another name, for another use, registered twice or retired is found', async () => {
  const acme = await startAgent(world, 'acme')
  const [first, ...others] = await fetchKeyEvents(acme, acme.identity.agentId)
  assert.ok(first)
  const changes: Partial<LoggedKeyEvent>[] = [
    { key_id: 'other' },
    { use: 'encryption' },
    { kind: 'retiring' },
  ]
  for (const change of changes)
    assert.deepEqual(await kinds(acme, [{ ...first, ...change }, ...others]), ['foreign_key_event'])
  const twice = { ...first, number: others.length + 2 }
  assert.deepEqual(await kinds(acme, [first, ...others, twice]), ['foreign_key_event'])
})
