import assert from 'node:assert/strict'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { test } from 'node:test'
import { OBJECT_TYPES } from '@agent-exchange/protocol'
import { createAgentFolder } from '@agent-exchange/sdk/node'
import { documentOf, fails, succeeds } from '../aex-here.fixture.ts'
import { temporaryFolder } from './agent/agents.fixture.ts'

const BY = ['--org', 'org_seats', '--agent', 'agent_seats', '--to', 'org_cars']

test('[OBJ-03] a new object of each of the six types is valid as it is, and for its owner alone', async () => {
  using folder = temporaryFolder()
  for (const type of OBJECT_TYPES) {
    const file = folder.path(`${type}.json`)
    assert.deepEqual(await documentOf('new', type, ...BY, '--out', file), { file })
    assert.equal(statSync(file).mode & 0o077, 0)
    await succeeds('validate', file)
    const object = JSON.parse(readFileSync(file, 'utf8')) as { object_type: string; created_by: object }
    assert.equal(object.object_type, type)
    assert.deepEqual(object.created_by, { organization_id: 'org_seats', agent_id: 'agent_seats' })
  }
})

test('what exists is never overwritten, and what cannot be is said', async () => {
  using folder = temporaryFolder()
  const file = folder.path('mine.json')
  writeFileSync(file, 'mine')
  assert.match(
    await fails('new', 'policy_envelope', ...BY, '--out', file),
    /exists already\. Choose another name/,
  )
  assert.equal(readFileSync(file, 'utf8'), 'mine')
  const nowhere = folder.path('none/mine.json')
  assert.match(await fails('new', 'policy_envelope', ...BY, '--out', nowhere), /cannot be written/)
})

test('ids are taken as given, from the folder of the agent, and never such that the object is not valid', async () => {
  using folder = temporaryFolder()
  const dir = folder.path('agent')
  const none = await fails('new', 'policy_envelope', '--to', 'org_cars', '--dir', dir)
  assert.match(none, /There is no agent in this folder/)
  await createAgentFolder(dir, { identity: { organizationId: 'org_seats', agentId: 'agent_seats' } })
  const given = ['--about', 'pkg_7', '--thread', 'thread_7', '--policy-id', 'pol_7']
  const printed = await succeeds('new', 'response_object', '--to', 'org_cars', ...given, '--dir', dir)
  const answer = JSON.parse(printed) as Record<string, unknown>
  assert.deepEqual(
    [
      answer['responds_to_package_id'],
      answer['thread_id'],
      Reflect.get(answer['policy_envelope'] as object, 'policy_id'),
    ],
    ['pkg_7', 'thread_7', 'pol_7'],
  )
  const wrong = await fails('new', 'reasoning_package', '--to', 'cars', '--dir', dir)
  assert.match(wrong, /not valid:\n {2}\/recipients\/0\/organization_id .* OBJ-/)
})
