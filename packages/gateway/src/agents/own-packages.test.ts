import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MAXIMUM_SHOWN_PAGES, readThread } from '@agent-exchange/sdk/internal'
import type { ApiParts } from '../api/call.ts'
import { readThread as answerThread } from '../api/handlers/read-thread.ts'
import { ALL_AGENTS } from '../systems/verbs.ts'
import type { HostedAgent } from './hosted-agent.ts'

const identity = { organizationId: 'org_acme', agentId: 'agent_acme' }
const between = { sender_org_id: 'org_acme', recipient_org_id: 'org_bolt', recipient_agent_id: 'agent_bolt' }

test('[O-40] the API reads a limited number of pages of a thread, and says that it has more', async () => {
  let calls = 0
  // The first package is the agent's own; all others are those of a colleague.
  const call = async () => {
    const sender = calls === 0 ? identity.agentId : 'agent_colleague'
    const own = { package_id: `pkg_${calls}`, metadata: { ...between, sender_agent_id: sender } }
    return { packages: [own], next_cursor: `page_${++calls}`, has_more: true }
  }
  const context = { connection: { call } } as unknown as HostedAgent['agent']['context']
  const thread: HostedAgent['agent']['thread'] = (id, options) => readThread(context, id, options)
  const hosted = { ...identity, agent: { identity, thread } } as HostedAgent
  const { body } = await answerThread({
    parts: { agents: { list: () => [hosted], find: () => hosted } } as unknown as ApiParts,
    caller: { kind: 'system', id: 'one', agents: [ALL_AGENTS], verbs: ['read'] } as never,
    path: { agent_id: identity.agentId, thread_id: 'thread_1' },
    query: {},
    body: undefined,
    signal: new AbortController().signal,
  })
  const { packages, truncated } = body as { packages: { package_id: string }[]; truncated: boolean }
  assert.deepEqual([packages.map((each) => each.package_id), truncated], [['pkg_0'], true])
  assert.equal(calls, MAXIMUM_SHOWN_PAGES)
})
