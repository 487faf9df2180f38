import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleObjects } from '@agent-exchange/protocol'
import { newObject } from '@agent-exchange/sdk/internal'
import { setOrganizationName } from '@agent-exchange/sdk/internal/node'
import { startWorld } from '@agent-exchange/testkit'
import { SKILL, startTwoDesks } from './desk.fixture.ts'

const TWO_DAYS_MS = 172_800_000

test('the first page lists what waits: a package to open, then the answer that is due, by title and name', async () => {
  await using world = await startWorld()
  await using desks = await startTwoDesks(world)
  const { acme, bolt } = desks
  const now = new Date()
  const terms = { by: bolt.agent.identity, to: acme.agent.identity.organizationId, now }
  const policy = newObject('policy_envelope', terms)
  const made = newObject('reasoning_package', { ...terms, policyId: policy.policy_id })
  const { business_context, facts, reasoning, intent } = exampleObjects.reasoning_package
  const deadline = new Date(now.getTime() + TWO_DAYS_MS).toISOString()
  const response_required = { required: true, deadline, expected_response_types: ['agree'] }
  const object = { ...made, business_context, facts, reasoning, intent, response_required }
  const { packageId, threadId } = await bolt.agent.send({
    object,
    policy,
    to: acme.agent.identity,
    skill: SKILL,
  })
  await setOrganizationName(acme.agent.folder.files.settings, 'org_bolt', 'Bolt Ltd')

  const link = acme.desk.newLink()
  const { origin } = new URL(link)
  const entered = await fetch(link, { redirect: 'manual' })
  const cookie = entered.headers.get('set-cookie')?.split(';')[0] ?? ''
  const get = async (path: string) => (await fetch(`${origin}${path}`, { headers: { cookie } })).text()

  const sealed = await get('/')
  assert.match(sealed, /Packages to open/u)
  assert.ok(sealed.includes(`href="/packages/${packageId}"`))
  assert.doesNotMatch(sealed, /Answers that you owe|seat rails/u)
  assert.match(await get(`/threads/${threadId}`), /Open and send receipts/u)

  await acme.agent.open(packageId)
  const due = await get('/')
  assert.doesNotMatch(due, /Packages to open/u)
  assert.match(due, /Answers that you owe/u)
  assert.match(due, /confirm which variants have priority/u)
  assert.match(due, /1 day left/u)
  assert.match(due, /Material constraint: seat rails, weeks 12 to 14/u)
  assert.match(due, /Bolt Ltd/u)
  const story = await get(`/threads/${threadId}`)
  assert.match(story, /<h1[^>]*>Material constraint: seat rails, weeks 12 to 14<\/h1>/u)
  assert.ok(story.includes(`href="/packages/${packageId}/answer/accept#answer-part"`))

  await acme.agent.respond(packageId, {
    object: {
      ...newObject('response_object', {
        by: acme.agent.identity,
        to: bolt.agent.identity.organizationId,
        now: new Date(),
        threadId,
        about: object.id,
        policyId: policy.policy_id,
      }),
      response_actions: ['agree'],
      response_summary: 'Variant A first.',
    },
    policy: { ...policy, allowed_recipients: ['org_bolt'] },
    skill: SKILL,
  })
  assert.doesNotMatch(await get('/'), /Answers that you owe/u)
  assert.match(await get(`/threads/${threadId}`), /org_acme agrees with Bolt Ltd/u)
})
