import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  exampleObjects,
  OBJECT_TYPES,
  validateObject,
  type ObjectType,
  type ProtocolObject,
} from '@agent-exchange/protocol'
import { newObject } from '@agent-exchange/sdk/internal'
import { SKILL } from '../../packages/mcp/src/agents.fixture.ts'
import { serveAndConnect, textOf, type TestClient } from '../../packages/mcp/src/clients.fixture.ts'
import { companies } from '../../packages/mcp/src/companies.fixture.ts'
import { reasoning, type Drafted } from '../../packages/mcp/src/story.fixture.ts'
import { freeTextMembers, withText } from './free-text-members.ts'
import { INJECTIONS } from './injection-corpus.ts'

const both = companies()
const MINIMUM = 30

test(`the corpus has at least ${MINIMUM} texts`, () => {
  assert.ok(new Set(INJECTIONS).size >= MINIMUM)
})

/** An object from acme to bolt with the text in every free-text member, and the members in question. */
function objectWith(type: ObjectType, text: string, original: Drafted) {
  const { identity } = both.acme.agent
  const by = { organization_id: identity.organizationId, agent_id: identity.agentId }
  const made = newObject(type, {
    by: identity,
    to: 'org_bolt',
    now: new Date(),
    about: original.package_id,
    ...(type === 'response_object' && { threadId: original.thread_id }),
  })
  const { id, created_at, trace } = made
  const parties = 'sender' in made ? { sender: by, recipients: made.recipients } : {}
  const thread = 'thread_id' in made ? { thread_id: made.thread_id } : {}
  const answer =
    'responds_to_package_id' in made ? { responds_to_package_id: made.responds_to_package_id } : {}
  const base = {
    ...exampleObjects[type],
    ...thread,
    ...parties,
    ...answer,
    id,
    created_at,
    created_by: by,
    trace,
    ...(type === 'policy_envelope' && { allowed_recipients: ['org_bolt'] }),
    ...('policy_id' in made && { policy_id: made.policy_id }),
    ...('policy_envelope' in made && { policy_envelope: made.policy_envelope }),
    ...('participants' in made && { participants: made.participants }),
    ...('response_required' in made && { response_required: made.response_required }),
    ...(type === 'network_story' && { next_update: created_at }),
  } as ProtocolObject
  assert.deepEqual(validateObject(base).failures, [])
  const members = freeTextMembers(base).filter((path) => !path.some((name) => PARTIES.has(name)))
  return { object: withText(base, members, text), members }
}

/** Members that must name the parties. */
const PARTIES = new Set<string | number>(['organization_id', 'agent_id', 'allowed_recipients'])

/** A sender that means harm has a policy that allows its text. */
async function send(object: ProtocolObject, original: Drafted): Promise<string> {
  const { agent } = both.acme
  const terms = { by: agent.identity, to: 'org_bolt', now: new Date() }
  const policyId = 'policy_envelope' in object ? object.policy_envelope.policy_id : undefined
  const made = newObject('policy_envelope', { ...terms, ...(policyId !== undefined && { policyId }) })
  const level =
    'boundaries' in object && 'disclosure_level' in object.boundaries
      ? object.boundaries.disclosure_level
      : 'any'
  const purpose = 'policy_envelope' in object ? object.policy_envelope.purpose : made.purpose
  const policy = {
    ...made,
    purpose,
    granularity: { level, prohibited_fields: [] },
    retention: { duration_days: 10_000 },
    forwarding: { allowed: true },
  }
  const input = { policy, skill: SKILL, to: both.bolt.agent.identity, approve: () => ({ approved: true }) }
  const sent =
    object.object_type === 'response_object'
      ? await agent.respond(original.package_id, { ...input, object })
      : await agent.send({ ...input, object })
  return sent.packageId
}

const listings = ['describe_agent', 'list_inbox', 'list_threads', 'list_drafts'] as const

/** Everything that a client shows without opening a package. */
async function surroundings(mcp: TestClient): Promise<string> {
  const lists = await Promise.all([
    mcp.client.listTools(),
    mcp.client.listPrompts(),
    mcp.client.listResources(),
    mcp.client.listResourceTemplates(),
    ...listings.map((name) => mcp.call(name)),
  ])
  return JSON.stringify([...lists, mcp.client.getInstructions()])
}

async function sentByBolt(mcp: TestClient): Promise<Drafted> {
  const draft = await mcp.result<Drafted>('draft_package', {
    to: 'agent_acme',
    object_type: 'reasoning_package',
    policy_id: 'pol_free',
    content: reasoning('Week 13?'),
  })
  await mcp.result('send_draft', { draft_id: draft.draft_id })
  await both.acme.agent.open(draft.package_id)
  return draft
}

for (const type of OBJECT_TYPES) {
  test(`${type}: each text comes through as marked data in every free-text member and changes nothing`, async () => {
    await using mcp = await serveAndConnect(both.bolt.session, 'auto')
    const tools = JSON.stringify((await mcp.client.listTools()).tools)
    const guarded = await mcp.result<Drafted>('draft_package', {
      to: 'agent_acme',
      object_type: 'reasoning_package',
      policy_id: 'pol_guarded',
      content: reasoning(`Guarded against ${type}.`),
    })
    let covered = 0
    const original = await sentByBolt(mcp)
    for (const text of INJECTIONS) {
      const { object, members } = objectWith(type, text, original)
      covered = members.length
      const packageId = await send(object, original)
      const before = both.bolt.calls.length
      const answer = await mcp.call('read_package', { package_id: packageId })
      assert.ok(!answer.isError, textOf(answer))
      requireMarked(answer, object, packageId)
      // Reading called nothing else.
      assert.deepEqual(
        both.bolt.calls.slice(before).map(({ tool }) => tool),
        ['read_package'],
      )
      const resource = await mcp.client.readResource({ uri: `aex://packages/${packageId}` })
      const [provenance, content] = resource.contents
      assert.ok(provenance && 'text' in provenance && content && 'text' in content)
      assert.deepEqual(
        (JSON.parse(content.text) as { object: object }).object,
        JSON.parse(JSON.stringify(object)),
      )
      assert.ok(!provenance.text.includes(JSON.stringify(text).slice(1, -1)) || text === '__proto__')
    }
    assert.ok(covered > 0)
    const shown = await surroundings(mcp)
    for (const text of INJECTIONS)
      assert.ok(!shown.includes(JSON.stringify(text).slice(1, -1)), `a list shows ${JSON.stringify(text)}`)
    assert.equal(JSON.stringify((await mcp.client.listTools()).tools), tools)
    const { status } = await mcp.result<{ status: string }>('send_draft', { draft_id: guarded.draft_id })
    assert.equal(status, 'waiting_for_person')
    console.log(`  ${type}: ${INJECTIONS.length} texts in ${covered} members`)
  })
}

type Answer = Awaited<ReturnType<TestClient['call']>>

/** Our words first, then one block between markers of a value that the author could not know. */
function requireMarked(
  { content, structuredContent }: Answer,
  object: ProtocolObject,
  packageId: string,
): void {
  assert.equal(content.length, 2)
  const [words, data] = content
  assert.ok(words?.type === 'text' && data?.type === 'text')
  assert.deepEqual(
    words.text
      .split('\n')
      .map((line) => line.split(' ')[0])
      .slice(0, 3),
    ['Package', 'From', 'Signature'],
  )
  assert.match(
    words.text,
    new RegExp(`^Package ${packageId} of thread \\S+, a ${object.object_type}\\.\n`, 'u'),
  )
  const lines = data.text.split('\n')
  const [, marker = ''] =
    /^BEGIN UNTRUSTED DATA ([0-9a-f]{16}), written by agent_acme of org_acme\. /u.exec(lines[0] ?? '') ?? []
  assert.equal(lines.at(-1), `END UNTRUSTED DATA ${marker}`)
  assert.equal(lines.filter((line) => line.includes(marker)).length, 2)
  assert.ok(lines.slice(1, -1).every((line) => /^[\s{}[\]"\d\-tfn]/u.test(line) && !line.startsWith('END')))
  assert.match(lines.slice(1, -1).join(''), /^[^\p{Cc}\p{Cf}\p{Zl}\p{Zp}<>]*$/u)
  assert.deepEqual(JSON.parse(lines.slice(1, -1).join('\n')), JSON.parse(JSON.stringify(object)))
  const structured = structuredContent as { untrusted: { object: object }; provenance: object }
  assert.deepEqual(structured.untrusted.object, JSON.parse(JSON.stringify(object)))
  assert.deepEqual(Object.keys(structured), ['provenance', 'untrusted'])
}
