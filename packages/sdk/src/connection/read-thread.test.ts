import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readThreadObjects } from '../open/read-thread-objects.ts'
import { storyText } from '../story/story-text.ts'
import { threadStory } from '../story/thread-story.ts'
import { MAXIMUM_SHOWN_PAGES } from './connection-limits.ts'
import type { Connection } from './connection.ts'
import { hasNextPage } from './read-pages.ts'
import { readThread, type ReadThreadOptions } from './read-thread.ts'

const identity = { organizationId: 'org_acme', agentId: 'agent_acme' }

/** A thread whose pages do not end, as one of many colleagues' packages may be. */
function endlessThread() {
  let calls = 0
  const call = async () => ({
    packages: [],
    participants: [],
    next_cursor: `page_${++calls}`,
    has_more: true,
  })
  const connection = { call } as unknown as Connection
  const thread = (id: string, options?: ReadThreadOptions) => readThread({ connection }, id, options)
  return { thread, calls: () => calls }
}

async function collected<T>(items: AsyncIterable<T>): Promise<T[]> {
  const all: T[] = []
  for await (const item of items) all.push(item)
  return all
}

test('a thread is read up to a number of pages, and the last one tells that another follows', async () => {
  const { thread, calls } = endlessThread()
  const pages = await collected(thread('thread_1', { maximumPages: 3 }))
  assert.deepEqual([calls(), pages.length], [3, 3])
  assert.ok(pages.every(hasNextPage))
  await assert.rejects(collected(thread('thread_1')), { code: 'exchange_answer_unreadable' })
})

test('the story of a thread that is too long to be read says that its newest packages are missing', async () => {
  const { thread, calls } = endlessThread()
  const open = () => Promise.reject(new Error('nothing to open'))
  const read = await readThreadObjects({ identity, thread, open }, 'thread_1')
  assert.equal(calls(), MAXIMUM_SHOWN_PAGES)
  const text = storyText(threadStory(read, new Date(0)))
  assert.match(text, /newest packages are not in this\s+story/u)
  const whole = threadStory({ ...read, hasNewerPackages: false }, new Date(0))
  assert.doesNotMatch(storyText(whole), /not in this story/u)
})
