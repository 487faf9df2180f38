import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { DeskRole } from '@agent-exchange/desk'
import { QUICK_LOG, until } from '@agent-exchange/testkit'
import { listAccess } from '../content/access-record.ts'
import { deleteDueContent } from '../content/open-content-store.ts'
import { addPerson } from '../people/people.ts'
import { SKILL, startCompanies } from '../startup/two-instances.fixture.ts'
import { deskVisitor } from './desk-visitor.fixture.ts'

const DAY_MS = 86_400_000
const CANARY = 'canary-brass-harbour-2207'

test('a planner reads a package at the desk, which is recorded; an auditor sees no content; nobody opens deleted content', async () => {
  await using companies = await startCompanies({ profile: QUICK_LOG, config: { role: 'all' } })
  const agentId = await companies.addAgent('seats')
  await companies.addAgent('rails')
  await using gateway = await companies.startInstance()
  await until('the instance leads', () => gateway.agents.isLeading())
  const { partner } = companies
  const policy = partner.make.policyEnvelope({ to: 'org_seats', purpose: 'supply planning' })
  const object = partner.make.reasoningPackage({
    to: 'org_seats',
    policy,
    summary: CANARY,
    facts: [{ statement: 'A coil moved.' }],
    ask: 'confirm',
  })
  const to = { organizationId: 'org_seats', agentId }
  const { packageId, threadId } = await partner.send({
    object,
    policy,
    to,
    skill: SKILL,
    expiresAt: new Date(Date.parse(companies.world.clock.now()) + DAY_MS).toISOString(),
  })
  const isStored = async () => (await gateway.contents.list(agentId, { limit: 1 })).length > 0
  await until('the package is stored', isStored)

  async function signIn(name: string, ...roles: DeskRole[]) {
    const at = new Date(companies.world.clock.now())
    const { link, personId } = await addPerson(
      gateway.db,
      at,
      { name, roles },
      { kind: 'command', id: 'test' },
    )
    const visitor = deskVisitor(gateway.urls.api)
    await visitor.enter(link)
    await visitor.get('/')
    assert.equal((await visitor.post('/agent', { agent_id: agentId })).status, 303)
    return { ...visitor, personId }
  }
  const readers = async () => (await listAccess(gateway.db, agentId, packageId)).map(({ actor }) => actor)

  const auditor = await signIn('Otto', 'auditor')
  const overview = await auditor.get('/')
  assert.equal(overview.status, 200)
  assert.match(overview.text, new RegExp(`/evidence/${threadId}`, 'u'))
  assert.ok(!overview.text.includes(CANARY))
  assert.equal((await auditor.get(`/threads/${threadId}`)).status, 403)
  const evidence = await until('the log holds the package', async () => {
    const page = await auditor.get(`/evidence/${packageId}`)
    return page.status === 200 && page
  })
  assert.match(evidence.text, new RegExp(`/evidence/${packageId}/capsule.json`, 'u'))
  assert.ok(!evidence.text.includes(CANARY))
  assert.deepEqual(await readers(), [])

  const planner = await signIn('Ida', 'planner')
  const story = await planner.get(`/threads/${threadId}`)
  assert.equal(story.status, 200)
  assert.match(story.text, new RegExp(CANARY, 'u'))
  assert.deepEqual(await readers(), [{ kind: 'person', id: planner.personId }])
  await planner.get(`/threads/${threadId}`)
  assert.equal((await readers()).length, 1, 'what the session has read is in its memory')
  const reader = await signIn('Kim', 'reader')
  await reader.get(`/threads/${threadId}`)
  assert.equal((await readers()).at(-1)?.id, reader.personId, 'another person is another entry')
  const unknown = await fetch(`${gateway.urls.api}/api/v1/none`)
  assert.equal(unknown.status, 404)
  assert.match(unknown.headers.get('content-type') ?? '', /json/u)
  assert.ok(!companies.logged.join('\n').includes(CANARY))

  companies.world.clock.advance((2 * DAY_MS) / 1_000)
  const later = await signIn('Siv', 'planner')
  const page = await later.get(`/packages/${packageId}`)
  assert.equal(page.status, 200)
  assert.ok(page.text.includes(CANARY), 'the own copy, after the exchange deleted the content')
  assert.match(page.text, /This gateway deletes its copy on/u)
  assert.doesNotMatch(page.text, /<pre/u, 'JSON has a link of its own')
  assert.match((await later.get(`/packages/${packageId}?raw`)).text, /<pre/u)
  const answer = await later.get(`/packages/${packageId}/answer/accept`)
  assert.equal(answer.status, 200, answer.text)
  assert.match(answer.text, /Make the draft/u)

  const second = await partner.send({ object: { ...object, id: `${object.id}_2` }, policy, to, skill: SKILL })
  const isSecondStored = async () => (await gateway.contents.list(agentId, { limit: 2 })).length === 2
  await until('the second package is stored', isSecondStored)
  const open = async () => {
    await later.get(`/packages/${second.packageId}`)
    return later.post(`/packages/${second.packageId}/open`)
  }
  assert.equal((await open()).status, 303, 'the exchange has the content')
  await gateway.db.begin((tx) => deleteDueContent(tx, '2999-01-01T00:00:00.000Z', 10))
  const before = (await listAccess(gateway.db, agentId, second.packageId)).length
  const refused = await open()
  assert.deepEqual([refused.status, /content_unavailable/u.test(refused.text)], [409, true])
  assert.equal((await listAccess(gateway.db, agentId, second.packageId)).length, before, 'nothing was read')
})
