import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { ThreadResource } from '@agent-exchange/protocol'
import { MAXIMUM_SHOWN_PAGES, readThread } from '@agent-exchange/sdk/internal'
import type { McpAgent } from '../mcp-agent.ts'
import { followThread } from '../tools/follow-thread.ts'
import { readThreadPackages } from './thread-packages.ts'

const identity = { organizationId: 'org_acme', agentId: 'agent_acme' }

/** An agent whose thread has this number of pages, each without a package. */
function agentWithPages(pages: number) {
  let calls = 0
  const call = async () => {
    calls += 1
    const page: Partial<ThreadResource> = { packages: [] }
    return calls < pages ? { ...page, next_cursor: `page_${calls}`, has_more: true } : page
  }
  const context = { connection: { call } } as unknown as McpAgent['context']
  const thread: McpAgent['thread'] = (id, options) => readThread(context, id, options)
  return { agent: { identity, thread } as McpAgent, calls: () => calls }
}

test('[O-40] follow_thread reads a limited number of pages, and says that the thread has more', async () => {
  const { agent, calls } = agentWithPages(MAXIMUM_SHOWN_PAGES + 1)
  assert.deepEqual(await readThreadPackages(agent, 'thread_1'), { packages: [], truncated: true })
  assert.equal(calls(), MAXIMUM_SHOWN_PAGES)
  const whole = agentWithPages(MAXIMUM_SHOWN_PAGES)
  assert.deepEqual(await readThreadPackages(whole.agent, 'thread_1'), { packages: [], truncated: false })

  const session = { agent: agentWithPages(MAXIMUM_SHOWN_PAGES + 1).agent, now: () => new Date(0) }
  const call = { session, signal: new AbortController().signal, progress: () => undefined }
  const { text } = await followThread.run({ thread_id: 'thread_1' }, call as never)
  assert.match(text, /The thread has newer ones that are not listed/u)
})
