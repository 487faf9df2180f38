import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openDatabase } from '@agent-exchange/database'
import { createMemoryKeyProvider } from '../../../sdk/src/keys/memory-key-provider.fixture.ts'
import { startCompanies } from '../startup/two-instances.fixture.ts'
import { testBox } from '../stores/gateway-database.fixture.ts'
import { listAgentKeys, makeNextClientKey, useNextClientKey } from './agent-keys.ts'
import { listAgents } from './agent-registry.ts'
import { openHostedAgent, type AgentDependencies } from './open-agent.ts'

const companies = await startCompanies()
const db = openDatabase({
  target: companies.databaseUrl,
  maximumConnections: 2,
  applicationName: 'agent keys test',
})
after(async () => {
  await db.end()
  await companies[Symbol.asyncDispose]()
})

const deps: AgentDependencies = {
  db,
  box: testBox(),
  now: () => new Date(companies.world.clock.now()),
  publicUrl: 'http://localhost:8090',
}

async function added(name: string) {
  const agentId = await companies.addAgent(name)
  const agent = (await listAgents(db)).find((each) => each.agentId === agentId)
  assert.ok(agent)
  return agent
}

test('[ID-04] each key is listed with where it is held and what the exchange says; a revoked one says so', async () => {
  const agent = await added('keys')
  const { agent: opened } = await openHostedAgent({ ...deps, keyProvider: createMemoryKeyProvider() }, agent)
  const { current, previous } = await opened.rotateKey('encryption')
  const now = deps.now()
  await opened.revokeKey(previous.keyId, {
    invalidFrom: now,
    reasonCode: 'superseded',
    evidenceReference: 'case_7',
  })
  const { keys, isAsked } = await listAgentKeys(deps, agent)
  assert.ok(isAsked)
  const found = (keyId: string) => keys.find((key) => key.keyId === keyId)
  assert.deepEqual(
    [found(previous.keyId)?.heldIn, found(previous.keyId)?.status, found(previous.keyId)?.stage],
    ['database', 'revoked', 'previous'],
  )
  assert.deepEqual([found(current.keyId)?.heldIn, found(current.keyId)?.status], ['token unknown', 'active'])
  const away = { ...deps, fetch: () => Promise.reject(new TypeError('fetch failed')) }
  const alone = await listAgentKeys(away, agent)
  assert.deepEqual([alone.isAsked, alone.keys.length, alone.keys[0]?.status], [false, 4, undefined])
})

test('[AUTH-02] a new client key is used when the operator has registered it, and not before', async () => {
  const agent = await added('client')
  assert.equal(await useNextClientKey(deps, agent), undefined)
  const next = await makeNextClientKey(deps, agent)
  assert.equal((await makeNextClientKey(deps, agent)).keyId, next.keyId)
  await assert.rejects(useNextClientKey(deps, agent), { code: 'token_refused' })
  const works = async () => {
    const { agent: opened } = await openHostedAgent(deps, agent)
    return opened.context.connection.call('getAgent', { path: { agent_id: agent.agentId } })
  }
  await works()
  const rotation = { public_jwk: next.publicJwk, reason: 'yearly' }
  const { status } = await companies.world.operate('POST', `/clients/${agent.clientId}/rotate`, rotation)
  assert.equal(status, 200)
  await assert.rejects(works(), { code: 'token_refused' })
  assert.equal((await useNextClientKey(deps, agent))?.keyId, next.keyId)
  await works()
})
