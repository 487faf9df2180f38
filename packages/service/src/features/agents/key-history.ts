import type { PackageEvidence } from '@agent-exchange/protocol'
import type { Queries } from '../../db/database.ts'
import { keysOf } from './key-store.ts'
import { toPublicKey } from './resources.ts'

interface EventRow {
  readonly key_id: string
  readonly kind: string
  readonly recorded_at: string
  readonly details: string
}

/** The keys of agents with everything that happened to them, for verification long afterwards (ID-05). */
export async function historyOf(
  queries: Queries,
  agentIds: readonly string[],
): Promise<PackageEvidence['key_history']> {
  const histories = await Promise.all(
    [...new Set(agentIds)].map((agentId) => historyOfAgent(queries, agentId)),
  )
  return histories.flat()
}

async function historyOfAgent(queries: Queries, agentId: string): Promise<PackageEvidence['key_history']> {
  const [keys, events] = await Promise.all([
    keysOf(queries, agentId),
    queries<EventRow[]>`
      select key_id, kind, recorded_at, details from agent_key_event where agent_id = ${agentId} order by position`,
  ])
  return keys.map((key) => ({
    agent_id: agentId,
    key: toPublicKey(key),
    events: events
      .filter(({ key_id }) => key_id === key.key_id)
      .map(({ kind, recorded_at, details }) => ({ kind, recorded_at, details: publicPart(details) })),
  }))
}

/** What a revocation says about validity; why it happened stays with the organization. */
function publicPart(details: string): { invalid_from?: string } {
  const { invalid_from } = JSON.parse(details) as { invalid_from?: string }
  return invalid_from === undefined ? {} : { invalid_from }
}
