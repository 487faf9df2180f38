import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { until } from '@agent-exchange/testkit'
import type { Agent } from '@agent-exchange/sdk'
import { contentFor, startCompanies } from './two-instances.fixture.ts'

const CANARY = 'canary-quiet-lantern-4711'
const companies = await startCompanies()
after(() => companies[Symbol.asyncDispose]())
const agentId = await companies.addAgent('seats')
const reader = { kind: 'system', id: 'erp', purpose: 'test' } as const

const contentOf = (agent: Agent, to: Parameters<typeof contentFor>[1]) => contentFor(agent, to, CANARY)

test('[EVT-14] two instances: one leads, each package is stored once, the other takes over, no plaintext outside', async () => {
  await using first = await companies.startInstance()
  await until('the first instance leads', () => first.agents.isLeading())
  await using other = await companies.startInstance()
  assert.equal((await fetch(`${first.urls.admin}/readyz`)).status, 200)
  const to = { organizationId: 'org_seats', agentId }
  const sent = []
  for (let count = 0; count < 3; count++)
    sent.push(await companies.partner.send(contentOf(companies.partner, to)))
  const { db } = other
  const items = async () =>
    (await db<{ package_id: string }[]>`select package_id from inbox_item order by sequence`).map(
      ({ package_id }) => package_id,
    )
  await until('all packages wait for a system', async () => (await items()).length === 3)
  assert.deepEqual([first.agents.isLeading(), other.agents.isLeading()], [true, false])
  assert.deepEqual(
    await items(),
    sent.map(({ packageId }) => packageId),
  )
  const [one] = sent
  const content = await other.contents.read(reader, agentId, one?.packageId ?? '')
  assert.ok(content !== undefined && content !== 'gone')
  assert.match(JSON.stringify(content.object), new RegExp(CANARY, 'u'))
  assert.equal((content.provenance['sender'] as Record<string, unknown>)['agent_id'], 'agent_partner')
  assert.ok(content.provenance['boundaries'])

  await first[Symbol.asyncDispose]()
  await until('the other instance leads', () => other.agents.isLeading(), { limitMs: 5_000 })
  await companies.partner.send(contentOf(companies.partner, to))
  await until('a package after the takeover', async () => (await items()).length === 4)

  const hosted = other.agents.find(agentId)
  assert.ok(hosted)
  const partner = { organizationId: 'org_partner', agentId: 'agent_partner' }
  const draft = await hosted.drafts.create(contentOf(hosted.agent, partner))
  const dumped = await db<{ name: string }[]>`
    select tablename as name from pg_tables where schemaname = 'public'`
  const rows = await Promise.all(
    dumped.map(({ name }) => db.unsafe(`select t::text as row from "${name}" t`, [])),
  )
  const dump = JSON.stringify(rows)
  for (const word of [
    CANARY,
    Buffer.from(CANARY).toString('base64').slice(0, 28),
    Buffer.from(CANARY).toString('hex'),
  ])
    assert.ok(!dump.includes(word), word)
  const { packageId } = await hosted.drafts.send(draft.draftId)
  assert.match(JSON.stringify((await companies.partner.open(packageId)).object), new RegExp(CANARY, 'u'))
  // Whoever sends may die right after it: the copy was stored with the mark of the draft.
  const copy = await other.contents.read(reader, agentId, packageId)
  assert.ok(copy !== undefined && copy !== 'gone')
  assert.equal(copy.direction, 'sent')
  assert.equal(
    ((await hosted.drafts.send(draft.draftId).catch((error: unknown) => error)) as { code?: string }).code,
    'draft_sent',
  )
  assert.ok(!companies.logged.join('\n').includes(CANARY))
  const metrics = await (await fetch(`${other.urls.admin}/metrics`)).text()
  assert.match(metrics, /aex_gateway_agents/u)
  assert.equal((await fetch(`${other.urls.api}/openapi.json`)).status, 200)
  const leases = await fetch(`${other.urls.api}/api/v1/inbox/leases`, { method: 'POST' })
  assert.equal(leases.status, 401)
})
