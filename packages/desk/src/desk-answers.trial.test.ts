import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { describeVerdict, readerWith, verifyCapsule } from '@agent-exchange/log'
import { startWorld, type World } from '@agent-exchange/testkit'
import { signInAt, type DeskClient } from './desk-browser-client.fixture.ts'
import { SKILL, startTwoDesks, type TwoDesks } from './desk.fixture.ts'

let world: World
let desks: TwoDesks
let acme: DeskClient
let packageId: string
let threadId: string
before(async () => {
  const profile = {
    'O-07': { transparency_checkpoint_milliseconds: 100, transparency_sequence_milliseconds: 20 },
  }
  world = await startWorld({ profile, config: { role: 'all' } })
  desks = await startTwoDesks(world)
  acme = await signInAt(desks.acme.desk)
  const { agent } = desks.bolt
  const policy = agent.make.policyEnvelope({ to: 'org_acme', purpose: 'supply alignment' })
  const object = agent.make.reasoningPackage({
    to: 'org_acme',
    summary: 'Rails are short.',
    facts: [{ statement: 'A press is down.', fact_id: 'fact_press' }],
    ask: 'Confirm the date.',
    policy,
  })
  const sent = await agent.send({ object, policy, to: desks.acme.agent.identity, skill: SKILL })
  ;({ packageId, threadId } = sent)
  await desks.acme.agent.open(packageId)
  // The first page reads new events.
  await acme.get('/')
})
after(async () => {
  await desks?.[Symbol.asyncDispose]()
  await world?.[Symbol.asyncDispose]()
})

test('a fact is challenged on the page of the story: a preview, the five checks, then a draft', async () => {
  const story = (await acme.get(`/threads/${threadId}`)).text
  const address = `/packages/${packageId}/answer/challenge`
  assert.ok(story.includes(`href="${address}?fact=fact_press#answer-part"`))
  const { text } = await acme.get(`${address}?fact=fact_press`)
  assert.match(text, /<option value="fact_press" selected[^>]*>A press is down\./u)
  assert.match(text, /Conversation, newest first/u, 'the story stays in view')

  assert.match(text, /name="add" value="added_facts" formnovalidate/u, 'a row is added to a form with gaps')
  const grown = await acme.post(address, { add: 'added_facts', 'added_facts.0.statement': 'It runs again.' })
  assert.match(grown.text, /added_facts\.1\.statement/u)
  assert.match(grown.text, />\s*It runs again\.<\/textarea>/u)

  const fields = {
    'points.0.fact': 'fact_press',
    'added_facts.0.statement': 'It runs again.',
    response_summary: 'The press was repaired.',
  }
  const checked = await acme.post(address, { ...fields, step: 'check' })
  assert.equal(checked.status, 200)
  assert.equal(checked.text.match(/>passed</gu)?.length, 5)
  assert.match(checked.text, /What the other side will read/u)
  const live = await acme.post(address, { ...fields, step: 'live' })
  assert.equal(live.text.match(/>passed</gu)?.length, 5)
  assert.doesNotMatch(live.text, /Conversation, newest first/u)
  assert.deepEqual(await desks.acme.agent.drafts.list(), [], 'nothing was stored')

  const refused = await acme.post(address, { 'points.0.fact': 'fact_press' })
  assert.equal(refused.status, 422)
  assert.match(refused.text, /Say what the answer is/u)

  const made = await acme.post(address, fields)
  assert.equal(made.status, 303)
  const [draft] = await desks.acme.agent.drafts.list()
  assert.equal(made.location, `/drafts/${draft?.draftId}?done=drafted`)
  assert.deepEqual(draft?.object.object_type === 'response_object' && draft.object.agreement, {
    agrees_with_sender_summary: false,
    challenged_points: ['fact_press'],
  })
  assert.equal(draft?.approvalRequired, true)
})

test('a template begins a conversation: the other company reads what the preview showed', async () => {
  const address = '/new/material_constraint_reasoning'
  assert.match((await acme.get('/new')).text, new RegExp(`href="${address}"`, 'u'))
  assert.match((await acme.get(address)).text, /<option value="org_bolt agent_bolt"[^>]*>/u)
  const refused = await acme.post(address, { 'business_context.use_case': 'material_constraint' })
  assert.equal(refused.status, 422)
  assert.match(refused.text, /Say who the recipient is/u)
  const fields = {
    'to.known': 'org_bolt agent_bolt',
    'business_context.domain': 'supply',
    'business_context.use_case': 'material_constraint',
    'business_context.time_horizon': 'weeks 12 to 14',
    'business_context.scope.0.name': 'part_family',
    'business_context.scope.0.value': 'seat rails',
    summary: 'Coil is short.',
    'facts.0.statement': 'One delivery was late.',
    confidence: '0.8',
    ask: 'Confirm the priority.',
    deadline: '2099-03-10',
    'expected.agree': 'on',
  }
  const checked = await acme.post(address, { ...fields, step: 'check' })
  assert.equal(checked.text.match(/>passed</gu)?.length, 5)
  assert.match(checked.text, /Coil is short/u)
  const made = await acme.post(address, fields)
  assert.equal(made.status, 303)
  const drafts = await desks.acme.agent.drafts.list()
  const object = drafts.map((draft) => draft.object).find((each) => each.object_type === 'reasoning_package')
  assert.equal(object?.package_type, 'material_constraint_reasoning')
  assert.deepEqual(object.business_context.affected_scope, { part_family: 'seat rails' })
})

test('the story has the verdict in a sentence; the report and the file for an auditor are one click away', async () => {
  const story = (await acme.get(`/threads/${threadId}`)).text
  assert.match(story, /Evidence of the thread/u)
  const report = await acme.get(`/evidence/${threadId}/report.html`)
  assert.equal(report.status, 200)
  assert.match(report.text, /Evidence report/u)
  const plain = await acme.get(`/evidence/${threadId}/capsule.json`)
  assert.doesNotMatch(plain.text, /content_key/u)
  const shown = await acme.post(`/evidence/${threadId}/with-content.json`)
  assert.equal(shown.status, 200)
  const result = await verifyCapsule(JSON.parse(shown.text), { require: 'unpinned' })
  assert.match(JSON.stringify(result.packages), /Rails are short/u)
  const verdict = describeVerdict(result, readerWith({})).sentence
  assert.ok((await acme.get(`/threads/${threadId}`)).text.includes(verdict.slice(0, 12)))
})

test('a search finds conversations by company, person, state, deadline and text, and says how much it read', async () => {
  const searched = async (query: string) => (await acme.get(`/search?${query}`)).text
  const isFound = (text: string) => text.includes(`href="/threads/${threadId}"`)
  for (const query of [
    'text=RAILS',
    'company=bolt',
    'person=agent_bolt',
    'state=due_from_us',
    'due_by=2099-01-01',
  ])
    assert.ok(isFound(await searched(query)), query)
  for (const query of ['text=absent', 'company=seats', 'person=Ida', 'state=decided', 'due_by=2020-01-01'])
    assert.ok(!isFound(await searched(query)), query)
  assert.match(await searched('text=rails'), /Searched 1 of 1 conversations, with 1 packages/u)
})
