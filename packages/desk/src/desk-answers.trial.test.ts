import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startWorld, type World } from '@agent-exchange/testkit'
import { signInAt, type DeskClient } from './desk-browser-client.fixture.ts'
import { SKILL, startTwoDesks, type TwoDesks } from './desk.fixture.ts'

let world: World
let desks: TwoDesks
let acme: DeskClient
let packageId: string
let threadId: string
before(async () => {
  world = await startWorld({ config: { role: 'all' } })
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
