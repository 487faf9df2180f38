import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import { after, test } from 'node:test'
import type { PolicyEnvelope } from '@agent-exchange/protocol'
import { createAgentFolder } from '@agent-exchange/sdk/node'
import { documentOf, fails, succeeds } from '../../aex-here.fixture.ts'
import { temporaryFolder } from './agents.fixture.ts'

const folder = temporaryFolder()
after(() => folder[Symbol.dispose]())
const dir = folder.path('seats')
await createAgentFolder(dir, { identity: { organizationId: 'org_seats', agentId: 'agent_seats' } })
const defaults = (...args: string[]) => ['agent', 'defaults', '--dir', dir, ...args]
type Shown = { policy?: PolicyEnvelope; skill?: { id: string; version: string } }

test('a new policy allows the named organizations, and the skill has a default', async () => {
  assert.equal(await succeeds(...defaults()), 'policy  none\nskill   none\n')
  assert.match(
    await succeeds(...defaults('--allow', 'org_cars', 'org_steel', '--purpose', 'capacity')),
    /^policy {2}pol_\w+, to org_cars, org_steel\nskill {3}skill_alignment@1\.0\.0\n$/,
  )
  const { policy } = await documentOf<Shown>(...defaults())
  assert.equal(policy?.purpose, 'capacity')
  assert.deepEqual(policy.created_by, { organization_id: 'org_seats', agent_id: 'agent_seats' })
})

test('a change of the skill keeps the policy, and a policy from a file replaces it', async () => {
  const before = await documentOf<Shown>(...defaults())
  const changed = await documentOf<Shown>(...defaults('--skill', 'skill_other@2.0.0'))
  assert.deepEqual(changed, { ...before, skill: { id: 'skill_other', version: '2.0.0' } })
  const file = folder.path('policy.json')
  writeFileSync(file, JSON.stringify({ ...before.policy, purpose: 'from a file' }))
  const replaced = await documentOf<Shown>(...defaults('--policy', file))
  assert.deepEqual([replaced.policy?.purpose, replaced.skill?.id], ['from a file', 'skill_other'])
})

test('what is not a policy is refused, and nothing is changed', async () => {
  const before = await documentOf<Shown>(...defaults())
  assert.match(await fails(...defaults('--allow', 'cars')), /object_invalid/)
  assert.match(await fails(...defaults('--allow', 'org_cars', '--policy', 'x.json')), /cannot be used with/)
  assert.deepEqual(await documentOf<Shown>(...defaults()), before)
})

test('send without a policy says how to keep one', async () => {
  const other = folder.path('other')
  await createAgentFolder(other, { identity: { organizationId: 'org_a', agentId: 'agent_a' } })
  const object = folder.path('object.json')
  await succeeds('new', 'reasoning_package', '--dir', other, '--to', 'org_b', '--out', object)
  assert.match(
    await fails('agent', 'send', object, '--dir', other, '--to', 'agent_b'),
    /Name a policy with --policy FILE, or keep one in the folder: (?:npx )?aex agent defaults/,
  )
})
