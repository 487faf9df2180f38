import assert from 'node:assert/strict'
import { test } from 'node:test'
import { agentRegistration } from '../resources/agents.ts'
import { acknowledgementRequest } from '../resources/notifications.ts'
import { isMemberName, withoutUnknownMembers } from './unknown-members.ts'

test('[O-29] only unknown members of closed objects are removed, at any depth', () => {
  const jwk = { kty: 'EC', crv: 'P-256', x: 'AA', y: 'AA', vendor: 1 }
  const key = { key_id: 'k', public_key: jwk }
  const given = {
    agent_id: 'agent_a',
    skill_versions: { chosen: '1', by: '2', the_caller: '3' },
    keys: [{ ...key, extra: 1 }, 7, null],
    extra: { agent_id: 'agent_b' },
  }
  const before = structuredClone(given)
  assert.deepEqual(withoutUnknownMembers(agentRegistration, given), {
    agent_id: 'agent_a',
    skill_versions: { chosen: '1', by: '2', the_caller: '3' },
    // A JWK is open; its parser keeps only the point (ID-06).
    keys: [key, 7, null],
  })
  assert.deepEqual(given, before)
})

test('[O-29] other values are unchanged, and __proto__ is an ordinary name', () => {
  for (const value of [null, 7, 'text', []]) {
    assert.deepEqual(withoutUnknownMembers(acknowledgementRequest, value), value)
  }
  const parsed: unknown = JSON.parse('{"__proto__":{"event_id":"e"},"constructor":1,"disposition":"stored"}')
  assert.deepEqual(withoutUnknownMembers(acknowledgementRequest, parsed), { disposition: 'stored' })
})

test('[O-29] member names are those of the schemas', () => {
  for (const name of ['keys', 'skill_versions', 'disposition']) assert.ok(isMemberName(name), name)
  for (const name of ['', 'CANARY', '__proto__', '$ref']) assert.ok(!isMemberName(name), name)
})
