import assert from 'node:assert/strict'
import { test } from 'node:test'
import { exampleObjects } from '@agent-exchange/protocol'
import { ExchangeError, threadStory, type StoredDraft } from '@agent-exchange/sdk'
import type { DeskAgent } from './desk-agent.ts'
import type { DeskCall } from './desk-call.ts'
import { SHOWN_WAITING } from './desk-limits.ts'
import { endOf } from './ending-keys.ts'
import { overviewPage } from './overview-page.ts'

const NOW = new Date('2026-03-04T09:00:00Z')
const READER = 'org_carmaker'

interface Given {
  readonly threads?: number
  readonly deadlines?: Awaited<ReturnType<NonNullable<DeskAgent['openDeadlines']>>>
  readonly drafts?: readonly StoredDraft[]
  readonly place?: DeskAgent['place']
  /** Threads of these are read; the others are not answered. */
  readonly isRead?: (threadId: string) => boolean
  readonly query?: string
}

/** The first page of a planner. In each thread an answer of the reader is due. */
async function overview({ threads = 0, drafts = [], deadlines, isRead = () => true, ...rest }: Given) {
  const all = Array.from({ length: threads }, (_, index) => `thread_${index}`)
  const agent = {
    place: rest.place ?? 'folder',
    identity: { agentId: 'agent_carmaker_supply', organizationId: READER },
    fetchEvents: async () => undefined,
    summary: async () => ({}),
    waiting: async () => ({ drafts: [], sealed: 1, setAside: 0, endingKeys: [] }),
    names: async () => ({}),
    drafts: { list: async () => drafts },
    threads: async (limit = 25) =>
      all.slice(0, limit).map((threadId) => ({
        threadId,
        packages: 1,
        pending: 0,
        last: { event_type: 'package.available', occurred_at: NOW.toISOString() },
      })),
    ...(deadlines && { openDeadlines: async () => deadlines }),
  } as unknown as DeskAgent
  const stories = {
    async read(threadId: string) {
      if (!isRead(threadId)) throw new ExchangeError('exchange_unreachable')
      const sentBy = { organizationId: 'org_tier1_seats', agentId: 'agent_seats_planner' }
      const sentTo = { organizationId: READER, agentId: 'agent_carmaker_supply' }
      const packages = [
        {
          packageId: `pkg_${threadId}`,
          state: 'opened',
          sentBy,
          sentTo,
          sentAt: '2026-03-02T08:00:00Z',
          content: { object: exampleObjects.reasoning_package },
        },
      ]
      return { story: threadStory({ threadId, reader: READER, packages }, NOW) }
    },
  }
  const person = { id: 'person_1', name: 'Ida', roles: ['planner'] }
  const call = { agent, stories, person, now: NOW, query: new URLSearchParams(rest.query ?? '') }
  const answer = await overviewPage(call as unknown as DeskCall)
  assert.ok(answer.kind === 'page')
  return String(answer.main)
}
const partOf = (page: string, heading: string) =>
  page.slice(page.indexOf(heading), page.indexOf('<h2>Conversations'))

test('an answer that is due in an old conversation is listed, and cut lists say how many more there are', async () => {
  const page = await overview({ threads: 40 })
  assert.match(partOf(page, 'Answers that you owe'), new RegExp(`\\?all=1">${40 - SHOWN_WAITING} more`, 'u'))
  assert.match(partOf(await overview({ threads: 40, query: 'all=1' }), 'Answers that you owe'), /thread_39"/u)
  assert.match(page, /href="\/\?page=1" rel="next"/u)
  assert.match(await overview({ threads: 40, query: 'page=1' }), /First page/u)
})

test('a gateway lists every deadline that it keeps, also where the conversation cannot be read', async () => {
  const deadlines = [
    { packageId: 'pkg_read', threadId: 'thread_old', dueAt: '2026-03-01T00:00:00.000Z' },
    { packageId: 'pkg_unread', threadId: 'thread_slow', dueAt: '2026-03-02T00:00:00.000Z' },
  ]
  const isRead = (threadId: string) => threadId !== 'thread_slow'
  const page = await overview({ place: 'gateway', threads: 3, deadlines, isRead })
  const due = partOf(page, 'Answers that you owe')
  assert.match(due, /threads\/thread_old"/u)
  assert.match(due, /threads\/thread_slow"[^]*overdue by 2 days/u)
  assert.match(page, /1 of 5 conversations could not be read/u)
})

test('a page that could not read everything does not say that nothing waits', async () => {
  const page = await overview({ threads: 2, isRead: () => false })
  assert.doesNotMatch(page, /Nothing waits for you/u)
  assert.match(page, /2 of 2 conversations could not be read/u)
  assert.match(await overview({}), /Nothing waits for you/u)
})

test('drafts to send and drafts that were declined wait for whoever may send', async () => {
  const draft = (draftId: string, state: StoredDraft['state']) =>
    ({
      draftId,
      state,
      object: exampleObjects.reasoning_package,
      recipient: { organizationId: 'org_tier1_seats', agentId: 'agent_seats_planner' },
      createdAt: NOW.toISOString(),
    }) as StoredDraft
  const page = await overview({ drafts: [draft('draft_a', 'approved'), draft('draft_b', 'declined')] })
  assert.match(page, /Drafts to send[^]*draft_a[^]*Drafts that were declined[^]*draft_b/u)
})

test('the page of a gateway names no command of a folder', async () => {
  assert.match(await overview({}), /aex agent resume/u)
  assert.doesNotMatch(await overview({ place: 'gateway', deadlines: [] }), /aex agent/u)
})

test('a key waits for a person when it was revoked or expires within two weeks', () => {
  assert.equal(endOf({ valid_until: '2026-03-18T08:00:00Z' }, NOW), '2026-03-18T08:00:00Z')
  assert.equal(endOf({ valid_until: '2026-03-19T08:00:00Z' }, NOW), undefined)
  assert.equal(endOf({ revoked_at: '2026-03-01T00:00:00Z' }, NOW), '2026-03-01T00:00:00Z')
  assert.equal(endOf({}, NOW), undefined)
})
