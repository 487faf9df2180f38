import assert from 'node:assert/strict'
import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { threadStory, type ThreadObjects, type ThreadPackage, type ThreadStory } from '@agent-exchange/sdk'
import { conversationPageOf } from './story-conversation.ts'
import { storyView } from './story-page.ts'

const EXAMPLES = join(import.meta.dirname, '../../sdk/src/story/examples')
const MAXIMUM_BYTES = 100_000
/** Would be seen at once if anything took it for markup. */
const MARKUP = `"><img src=x onerror=alert(1)></bdi></q>\u202e`

interface Example {
  readonly now: string
  readonly names: Readonly<Record<string, string>>
  readonly thread: ThreadObjects
}

const examples = globSync('*.json', { cwd: EXAMPLES }).map(
  (name) => JSON.parse(readFileSync(join(EXAMPLES, name), 'utf8')) as Example,
)
const pageOf = ({ now, names, thread }: Example) =>
  String(
    storyView(threadStory(thread, new Date(now)), names, {
      agentId: 'agent_carmaker_supply',
      csrfToken: 'token',
      canAnswer: true,
    }),
  )

test('the page of a story says what is decided and disputed, by whom, and offers what can be done', () => {
  const pages = examples.map(pageOf).join('')
  for (const text of ['Decided', 'Agreed', 'Disputed', 'Proposed', 'Open', 'Carmaker challenges Seats Ltd'])
    assert.ok(pages.includes(text), text)
  assert.match(pages, /overdue by less than a day/u)
  assert.match(pages, /Open and send receipts/u)
  assert.match(pages, /<meter[^>]+value="0.8"/u)
  assert.match(pages, /<details class="conversation" id="conversation">/u)
  assert.match(pages, /aria-current="step"[^>]*>\s*closed\s*</u)
  assert.doesNotMatch(pages, /<script/u)
})

test('markup in every text of a thread is text on the page of its story', () => {
  for (const example of examples) {
    const hostile = pageOf({ ...example, names: {}, thread: withMarkup(example.thread) })
    assert.doesNotMatch(hostile, /<img|\u202e/u)
    assert.ok(hostile.includes('&lt;img'))
  }
})

test('a thread of a thousand packages makes a page below 100 KB', () => {
  for (const { thread, ...rest } of examples) {
    const packages = Array.from({ length: 1_000 }, (_, index): ThreadPackage => {
      const found = thread.packages[index % thread.packages.length]
      assert.ok(found)
      return { ...found, packageId: `${found.packageId}_${index}` }
    })
    const size = Buffer.byteLength(pageOf({ ...rest, thread: { ...thread, packages } }))
    assert.ok(size < MAXIMUM_BYTES, `${thread.threadId}: ${size} bytes`)
  }
})

test('the conversation has pages; the newest packages come first', () => {
  const [example] = examples
  assert.ok(example)
  const [first] = example.thread.packages
  assert.ok(first)
  const packages = Array.from({ length: 60 }, (_, index) => ({ ...first, packageId: `pkg_${index}` }))
  const story = threadStory({ ...example.thread, packages }, new Date(example.now))
  const viewer = { agentId: 'agent_other', csrfToken: 'token', canAnswer: false }
  const shown = (query: string) => {
    const conversationPage = conversationPageOf(new URLSearchParams(query), story)
    return String(storyView(story, {}, viewer, { conversationPage }))
  }
  const entries = (page: string) => page.slice(page.indexOf('id="conversation"'))
  assert.match(entries(shown('')), /packages\/pkg_59"[^]*conversation=1#conversation/u)
  assert.match(entries(shown('conversation=2')), /packages\/pkg_0"/u)
  assert.match(shown('conversation=2'), /id="conversation" open/u)
  for (const forged of ['conversation=-1', 'conversation=99', 'conversation=x'])
    assert.equal(shown(forged), shown(''))
})

test('a story whose newest packages were not read says so', () => {
  const [example] = examples
  assert.ok(example)
  const pageWith = (hasNewerPackages: boolean) =>
    pageOf({ ...example, thread: { ...example.thread, hasNewerPackages } })
  assert.match(pageWith(true), /Its newest packages are not in this story/u)
  assert.doesNotMatch(pageWith(false), /Its newest packages/u)
})

test('whatever a story leaves out is counted', () => {
  const [example] = examples
  assert.ok(example)
  const { thread, now } = example
  const story = threadStory(thread, new Date(now))
  const [entry] = story.conversation
  assert.ok(entry)
  const source = { packageId: entry.packageId, by: entry.sentBy, at: entry.at }
  const { organizationId: by } = entry.sentBy
  const quotes = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ text: `text ${index}`, by, isReaders: false }))
  const [text = { text: '', by, isReaders: false }] = quotes(1)
  const members = quotes(9).map((each, index) => ({ name: `member_${index}`, text: each }))
  const long: ThreadStory = {
    ...story,
    agreed: [
      {
        rule: 'response_agrees',
        text,
        source,
        facts: [],
        exceptions: quotes(5),
        confirmedBy: Array.from({ length: 11 }, (_, index) => `org_${index}`),
      },
    ],
    disputed: [],
    decided: [],
    proposed: [],
    open: [],
    facts: [
      {
        factId: 'fact_1',
        statement: text,
        evidenceRefs: [],
        source,
        challenges: quotes(7).map((each) => ({ text: each, source })),
      },
    ],
    options: [{ source, members }],
    constraints: [],
    notDisclosed: [{ organizationId: by, items: quotes(13) }],
    versions: [
      {
        storyId: 'story_1',
        version: 2,
        status: 'active',
        summary: text,
        source,
        isCurrent: true,
        changes: quotes(14).map((each) => ({ kind: 'added', part: 'decisions', text: each })),
      },
    ],
  }
  const page = String(storyView(long, {}, { agentId: 'agent_other', csrfToken: 'token', canAnswer: false }))
  for (const [what, count] of [
    ['exceptions', 2],
    ['confirmations', 3],
    ['challenges', 4],
    ['items that are not disclosed', 5],
    ['changes of a version', 6],
  ] as const)
    assert.ok(page.includes(`>${count} more<`), what)
  assert.match(page, /3 more columns are on the pages of the packages/u)
})

test('a deadline that is a leap second makes a page, not a failure', () => {
  const pages = examples.map(({ thread, ...rest }) => {
    const text = JSON.stringify(thread).replaceAll(
      /"deadline":"[^"]*"/gu,
      '"deadline":"2026-12-31T23:59:60Z"',
    )
    return pageOf({ ...rest, thread: JSON.parse(text) as ThreadObjects })
  })
  assert.match(pages.join(''), /2027-01-01 00:00 UTC/u)
})

/** Ids, types, times and enumerations stay: otherwise nothing could be read. */
function withMarkup(thread: ThreadObjects): ThreadObjects {
  const text = JSON.stringify(thread.packages).replaceAll(
    /"(statement|summary|use_case|time_horizon|part_family|basis|sender_action|recipient_request|response_summary|scope|severity|time_impact|role)":"[^"]*"/gu,
    (_found, name: string) => `"${name}":${JSON.stringify(MARKUP)}`,
  )
  return { ...thread, packages: JSON.parse(text) as ThreadPackage[] }
}
