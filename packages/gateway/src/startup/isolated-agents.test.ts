import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { until } from '@agent-exchange/testkit'
import { startCompanies } from './two-instances.fixture.ts'

const companies = await startCompanies()
after(() => companies[Symbol.asyncDispose]())

test('an agent that cannot be opened is reported and tried again, and the others run', async () => {
  const broken = await companies.addAgent('a_broken')
  const fine = await companies.addAgent('b_fine')
  await using gateway = await companies.startInstance()
  const { db, agents } = gateway
  await db`update gateway_agent set settings = '{"logPolicy":"nonsense"}' where agent_id = ${broken}`
  await using other = await companies.startInstance()
  assert.deepEqual(
    other.agents.list().map(({ agentId }) => agentId),
    [fine],
  )
  assert.ok(companies.logged.some((line) => line.includes('could not be opened') && line.includes(broken)))
  await db`update gateway_agent set settings = '{}' where agent_id = ${broken}`
  await until('the repaired agent runs', () => other.agents.find(broken) !== undefined)
  assert.ok(agents.find(fine))
})
