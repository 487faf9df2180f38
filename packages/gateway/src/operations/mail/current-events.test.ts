import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { StoredDraft } from '@agent-exchange/sdk'
import type { HostedAgent } from '../../agents/hosted-agent.ts'
import { gatewayDatabase } from '../../stores/gateway-database.fixture.ts'
import { currentEvents } from './current-events.ts'

test('a draft needs a person while nobody approved it, and when its approval became void', async () => {
  await using database = await gatewayDatabase()
  const states: readonly StoredDraft['state'][] = ['waiting', 'void', 'approved', 'declined']
  const drafts = states.map((state) => ({ draftId: state, createdAt: '', approvalRequired: true, state }))
  const agent = { agentId: 'agent_1', drafts: { list: async () => drafts } } as unknown as HostedAgent
  const events = await currentEvents(
    {
      db: database.db,
      agents: { list: () => [agent], find: () => agent },
      keyEnds: () => [],
      isModuleAway: () => false,
      logFindings: () => [],
    },
    new Date('2026-11-18T09:00:00.000Z'),
  )
  assert.deepEqual(
    events.map(({ kind, subject }) => [kind, subject]),
    [
      ['draft_waits', 'waiting'],
      ['draft_waits', 'void'],
    ],
  )
})
