import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { createAgentFolder } from '@agent-exchange/sdk/node'
import { documentOf, fails, succeeds } from '../../aex-here.fixture.ts'
import { temporaryFolder } from './agents.fixture.ts'

const folder = temporaryFolder()
after(() => folder[Symbol.dispose]())
const dir = folder.path('seats')
await createAgentFolder(dir, { identity: { organizationId: 'org_seats', agentId: 'agent_seats' } })
const name = (...args: string[]) => ['agent', 'name', '--dir', dir, ...args]

test('[AUD-01] names of organizations are set, listed and removed', async () => {
  assert.equal(await succeeds(...name()), 'No organization has a name.\n')
  await succeeds(...name('org_cars', 'Cars Ltd'))
  assert.equal(
    await succeeds(...name('org_bolts', 'Bolts & Söhne')),
    'org_bolts  Bolts & Söhne\norg_cars  Cars Ltd\n',
  )
  await succeeds(...name('org_cars', 'Cars plc'))
  assert.deepEqual(await documentOf(...name('org_bolts', '--remove')), { org_cars: 'Cars plc' })
  await succeeds('agent', 'defaults', '--dir', dir, '--skill', 'skill_other@2.0.0')
  assert.deepEqual(await documentOf(...name()), { org_cars: 'Cars plc' })
})

test('[AUD-01] a name that could forge a line is refused, and nothing is changed', async () => {
  const before = await documentOf(...name())
  assert.match(await fails(...name('org_cars', 'Cars\nProven')), /control or format characters/u)
  assert.match(await fails(...name('org_cars', 'Cars\u202e')), /control or format characters/u)
  assert.match(await fails(...name('org_cars', 'x'.repeat(65))), /at most 64 characters/u)
  assert.match(await fails(...name('agent_cars', 'Cars')), /no organization id/u)
  assert.match(await fails(...name('org_cars')), /Give an organization and its name/u)
  assert.match(await fails(...name('org_cars', 'Cars', '--remove')), /Give an organization and its name/u)
  assert.deepEqual(await documentOf(...name()), before)
})
