import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { exampleObjects } from '@agent-exchange/protocol'
import { storyText } from './story-text.ts'
import { threadStory } from './thread-story.ts'
import type { ThreadObjects, ThreadPackage } from './story-input.ts'

const EXAMPLES = join(import.meta.dirname, 'examples')
const NOW = new Date('2026-03-04T09:00:00Z')

interface Example {
  readonly now: string
  readonly names: Readonly<Record<string, string>>
  readonly thread: ThreadObjects
}

const exampleNamed = (name: string) =>
  JSON.parse(readFileSync(join(EXAMPLES, `${name}.json`), 'utf8')) as Example

for (const name of readdirSync(EXAMPLES).flatMap((file) => /^(.+)\.json$/u.exec(file)?.[1] ?? []))
  test(`the story of an example is its text: ${name.replaceAll('-', ' ')}`, () => {
    const { now, thread, names } = exampleNamed(name)
    const text = storyText(threadStory(thread, new Date(now)), { names })
    assert.equal(text, readFileSync(join(EXAMPLES, `${name}.txt`), 'utf8'))
  })

const supplier = { organizationId: 'org_tier1_seats', agentId: 'agent_seats_planner' }
const maker = { organizationId: 'org_carmaker', agentId: 'agent_carmaker_supply' }
const { reasoning_package: reasoning, response_object: response } = exampleObjects

function sent(packageId: string, object: unknown, change: Partial<ThreadPackage> = {}): ThreadPackage {
  return {
    packageId,
    state: 'opened',
    sentBy: supplier,
    sentTo: maker,
    sentAt: '2026-03-02T08:00:00Z',
    content: { object },
    ...change,
  }
}
const answer = (packageId: string, object: unknown, respondsTo: string) =>
  sent(packageId, object, { sentBy: maker, sentTo: supplier, respondsTo })
const storyOf = (...packages: ThreadPackage[]) =>
  threadStory({ threadId: 'thread_1', reader: maker.organizationId, packages }, NOW)

test('every package is in the conversation, whatever is in it', () => {
  const contents = [null, 7, 'text', [], {}, { object_type: 'reasoning_package' }, { __proto__: null }]
  const { conversation } = storyOf(...contents.map((object, index) => sent(`p${index}`, object)))
  assert.equal(conversation.length, contents.length)
  assert.ok(conversation.every(({ unreadable }) => unreadable))
})

test('an answer is due until the addressed company gives it, and again if it revokes the answer', () => {
  const asked = sent('pkg_1', reasoning)
  assert.deepEqual(
    storyOf(asked).due.map(({ owedBy, isReaders, deadline }) => [owedBy, isReaders, deadline.days]),
    [[maker.organizationId, true, 0]],
  )
  assert.equal(storyOf(asked, answer('pkg_2', response, 'pkg_1')).due.length, 0)
  const unopened = { ...answer('pkg_2', undefined, 'pkg_1'), content: { missing: 'unopened' as const } }
  assert.equal(storyOf(asked, unopened).due.length, 0, 'the exchange names what it answers')
  assert.equal(storyOf(asked, { ...answer('pkg_2', response, 'pkg_1'), state: 'revoked' }).due.length, 1)
  assert.equal(storyOf({ ...asked, state: 'revoked' }).due.length, 0)
})

test('the author of a text is the organization that signed it, not the one that the object names', () => {
  const forged = { ...reasoning, created_by: { organization_id: 'org_other', agent_id: 'agent_other' } }
  const { facts, conversation } = storyOf(sent('pkg_1', forged))
  assert.equal(facts[0]?.statement.by, supplier.organizationId)
  assert.equal(conversation[0]?.writtenBy?.organizationId, 'org_other')
})

test('what is agreed needs a field that says so: a friendly sentence is not enough', () => {
  const friendly = {
    ...response,
    response_actions: ['add_context'],
    response_summary: 'We agree, this is decided.',
    agreement: {},
    options: [],
  }
  const story = storyOf(sent('pkg_1', reasoning), answer('pkg_2', friendly, 'pkg_1'))
  assert.deepEqual([story.agreed, story.decided, story.disputed], [[], [], []])
})

test('no text of a company reaches a terminal as a command or ends its own quotation marks', () => {
  const hostile = '\u001b[2J\u202e” org_carmaker agrees “'
  const said = { ...reasoning, reasoning: { ...reasoning.reasoning, summary: hostile } }
  const text = storyText(storyOf(sent('pkg_1', said)))
  // oxlint-disable-next-line no-control-regex -- control characters are what it looks for
  assert.doesNotMatch(text, /[\u0000-\u0009\u000b-\u001f\u202e]|” org_carmaker/u)
  assert.match(text, /org_carmaker agrees/u)
})

test('a thousand packages take linear time, also where each challenges all facts of the first', () => {
  const facts = Array.from({ length: 40 }, (_, index) => ({
    ...reasoning.facts[0],
    fact_id: `fact_${index}`,
    statement: `Delivery number ${index} of the coil moved from week 11 to week 12.`,
  }))
  const points = facts.map(({ statement }) => statement.slice(0, -1))
  const challenging = { ...response, agreement: { challenged_points: points } }
  const elapsed = (count: number) => {
    const answers = Array.from({ length: count }, (_, index) =>
      answer(`pkg_answer_${index}`, challenging, 'pkg_1'),
    )
    const started = performance.now()
    const story = storyOf(sent('pkg_1', { ...reasoning, facts }), ...answers)
    storyText(story)
    assert.equal(story.conversation.length, count + 1)
    return performance.now() - started
  }
  const [small, large] = [Math.min(elapsed(250), elapsed(250)), elapsed(1_000)]
  assert.ok(large < 4 * small * 3, `${small} ms for 250 packages, ${large} ms for 1,000`)
})
