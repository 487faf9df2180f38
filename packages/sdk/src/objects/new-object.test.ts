import assert from 'node:assert/strict'
import { test } from 'node:test'
import { OBJECT_TYPES, validateObject } from '@agent-exchange/protocol'
import { newObject, type ObjectTerms } from './new-object.ts'

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
