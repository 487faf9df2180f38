import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAXIMUM_SHOWN_PAGES, readThread } from '@agent-exchange/sdk/internal'
import type { Agent } from '@agent-exchange/sdk'
import { listThread, threadText } from './thread.ts'

test('[O-40] aex agent thread lists a limited number of pages, and says that the thread has more', async () => {
  let calls = 0
  const call = async () => ({
    transport_mode: 'native',
    packages: [],
    next_cursor: `page_${++calls}`,
    has_more: true,
  })
  const context = { connection: { call } } as unknown as Agent['context']
  const thread: Agent['thread'] = (id, options) => readThread(context, id, options)
  const listed = await listThread({ thread }, 'thread_1')
  assert.deepEqual([calls, listed.truncated], [MAXIMUM_SHOWN_PAGES, true])
  assert.match(threadText(listed, { dir: 'acme' }), /newer ones are not listed/u)
  assert.doesNotMatch(threadText({ ...listed, truncated: false }, { dir: 'acme' }), /not listed/u)
})
