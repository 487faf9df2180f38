import type { PackageEvidence } from '@agent-exchange/protocol'
import type { Queries } from '@agent-exchange/database'
import { lockNameOf, type KeyName } from '../keys/public-keys.ts'
import { keysNamed } from './key-store.ts'
import { toPublicKey } from './resources.ts'

interface EventRow {
  readonly agent_id: string
  readonly key_id: string
  readonly kind: string
  readonly recorded_at: string
  readonly details: string
}

/** The given keys, each once, with all their events, for verification long afterwards (ID-05). */
export async function historyOf(
  queries: Queries,
  uses: readonly KeyName[],
): Promise<PackageEvidence['key_history']> {
  const names = [...new Map(uses.map((name) => [lockNameOf(name), name])).values()]
  const [agentIds, keyIds] = [names.map(({ agentId }) => agentId), names.map(({ keyId }) => keyId)]
  const [keys, events] = await Promise.all([
    keysNamed(queries, names),
    queries<EventRow[]>`
      select agent_id, key_id, kind, recorded_at, details from agent_key_event
      join unnest(${agentIds}::text[], ${keyIds}::text[]) as named (agent_id, key_id) using (agent_id, key_id)
      order by position`,
  ])
  return keys.map((key) => ({
    agent_id: key.agent_id,
    key: toPublicKey(key),
    events: events
      .filter(({ agent_id, key_id }) => agent_id === key.agent_id && key_id === key.key_id)
      .map(({ kind, recorded_at, details }) => ({ kind, recorded_at, details: publicPart(details) })),
  }))
}

export interface ListedKeyEvent {
  readonly key_id: string
  readonly kind: string
  readonly recorded_at: string
  readonly actor: string
  readonly details: object
}

/** All events of an agent's keys, oldest first, for the operator. Quotas limit their number (O-13). */
export async function keyEventsOf(queries: Queries, agentId: string): Promise<ListedKeyEvent[]> {
  const rows = await queries<(EventRow & { readonly actor: string })[]>`
    select key_id, kind, recorded_at, actor, details from agent_key_event
    where agent_id = ${agentId} order by position`
  return rows.map(({ details, ...row }) => ({ ...row, details: JSON.parse(details) as object }))
}

/** The time of invalidity is public; the reason of a revocation is visible to the organization only. */
function publicPart(details: string): { invalid_from?: string } {
  const { invalid_from } = JSON.parse(details) as { invalid_from?: string }
  return invalid_from === undefined ? {} : { invalid_from }
}
