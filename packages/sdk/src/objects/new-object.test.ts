import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OBJECT_TYPES, validateObject } from '@agent-exchange/protocol'
import { newObject, type ObjectTerms } from './new-object.ts'
import { placeholderWarnings, PLACEHOLDERS } from './placeholders.ts'

const terms: ObjectTerms = {
  by: { organizationId: 'org_acme', agentId: 'agent_planner' },
  to: 'org_carmaker',
  now: new Date('2026-06-01T08:00:00Z'),
}

test('[OBJ-18] a new object of each type is valid as it is', () => {
  for (const type of OBJECT_TYPES) {
    const object = newObject(type, terms)
    assert.deepEqual(validateObject(object).failures, [], type)
    assert.equal(object.object_type, type)
  }
})

test('ids are fresh for each object, and given ones are kept', () => {
  const [one, other] = [newObject('reasoning_package', terms), newObject('reasoning_package', terms)]
  assert.notEqual(one.id, other.id)
  assert.notEqual(one.thread_id, other.thread_id)
  const given = { ...terms, threadId: 'thread_known', about: 'pkg_known', policyId: 'pol_known' }
  const response = newObject('response_object', given)
  assert.deepEqual(
    [response.thread_id, response.responds_to_package_id, response.policy_envelope.policy_id],
    ['thread_known', 'pkg_known', 'pol_known'],
  )
  assert.equal(newObject('loop_thread', given).id, 'thread_known')
})

test('sentences of the template that are still there are found, each at its place', () => {
  const draft = newObject('reasoning_package', terms)
  assert.deepEqual(
    placeholderWarnings(draft).map(({ pointer }) => pointer),
    [
      '/business_context/time_horizon',
      '/facts/0/statement',
      '/reasoning/summary',
      '/reasoning/drivers/0',
      '/reasoning/known_unknowns/0',
      '/confidence/basis',
      '/intent/sender_action',
      '/intent/recipient_request',
    ],
  )
  const found = OBJECT_TYPES.flatMap((type) => placeholderWarnings(newObject(type, terms)))
  assert.equal(found.length, Object.keys(PLACEHOLDERS).length)
  const answer = { ...newObject('response_object', terms), response_summary: 'We agree.' }
  assert.deepEqual(placeholderWarnings(answer), [])
})
