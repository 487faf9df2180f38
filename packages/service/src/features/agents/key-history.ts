import type { PackageEvidence } from '@agent-exchange/protocol'
import type { Queries } from '../../db/database.ts'
import type { KeyName } from '../keys/public-keys.ts'
import { keysNamed, keysOf, type KeyRow } from './key-store.ts'
import { toPublicKey } from './resources.ts'

interface EventRow {
  readonly agent_id: string
  readonly key_id: string
  readonly kind: string
  readonly recorded_at: string
  readonly details: string
}

/**
 * Keys with everything that happened to them, for verification long afterwards (ID-04, ID-05): all keys of the
 * package's two agents, and of any other agent those that signed something about it.
 */
export async function historyOf(
  queries: Queries,
  agentIds: readonly string[],
  signers: readonly KeyName[],
): Promise<PackageEvidence['key_history']> {
  const agents = [...new Set(agentIds)]
  const others = signers.filter(({ agentId }) => !agents.includes(agentId))
  const keys = await Promise.all([
    ...agents.map((agentId) => keysOf(queries, agentId)),
    keysNamed(queries, others),
  ])
  return withEvents(queries, keys.flat())
}

async function withEvents(
  queries: Queries,
  keys: readonly KeyRow[],
): Promise<PackageEvidence['key_history']> {
  const events = await queries<EventRow[]>`
    select agent_id, key_id, kind, recorded_at, details from agent_key_event
    join unnest(${keys.map((key) => key.agent_id)}::text[], ${keys.map((key) => key.key_id)}::text[])
      as named (agent_id, key_id) using (agent_id, key_id)
    order by position`
  const byKey = Map.groupBy(events, nameOf)
  return keys.map((key) => ({
    agent_id: key.agent_id,
    key: toPublicKey(key),
    events: (byKey.get(nameOf(key)) ?? []).map(({ kind, recorded_at, details }) => ({
      kind,
      recorded_at,
      details: publicPart(details),
    })),
  }))
}

const nameOf = ({ agent_id, key_id }: { readonly agent_id: string; readonly key_id: string }) =>
  `${agent_id}\0${key_id}`

/** What a revocation says about validity; why it happened stays with the organization. */
function publicPart(details: string): { invalid_from?: string } {
  const { invalid_from } = JSON.parse(details) as { invalid_from?: string }
  return invalid_from === undefined ? {} : { invalid_from }
}
