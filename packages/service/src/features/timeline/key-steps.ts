import type { Queries } from '@agent-exchange/database'
import { invalidFromOf } from '../../kernel/key-events.ts'
import type { KeyUse } from './evidence-steps.ts'
import { EXCHANGE, factsOf, type Step } from './step.ts'

interface EventRow {
  readonly agent_id: string
  readonly organization_id: string
  readonly key_id: string
  readonly kind: 'registered' | 'retiring' | 'revoked'
  readonly recorded_at: string
  readonly details: string
}

const TITLES = {
  registered: 'Key registered',
  retiring: 'Key retiring',
  revoked: 'Key revoked',
} as const

/** Changes of the keys that signed, since the first package: an earlier one was known when the package was accepted. */
export async function keySteps(db: Queries, keys: readonly KeyUse[], since: string): Promise<Step[]> {
  const named = [...new Map(keys.map((key) => [`${key.agentId}\0${key.keyId}`, key])).values()]
  const events = await db.byIndex<EventRow[]>`
    select agent_key_event.agent_id, organization_id, agent_key_event.key_id, kind, recorded_at, details
    from unnest(${named.map(({ agentId }) => agentId)}::text[], ${named.map(({ keyId }) => keyId)}::text[])
      as named (agent_id, key_id)
    join agent_key_event using (agent_id, key_id) join agent on agent.agent_id = agent_key_event.agent_id
    where recorded_at >= ${since} order by position`
  return events.map(({ agent_id, organization_id, key_id, kind, recorded_at, details }) => ({
    at: recorded_at,
    kind: 'key_event',
    what: TITLES[kind],
    outcome: kind === 'revoked' ? 'bad' : 'neutral',
    from: organization_id,
    to: EXCHANGE,
    facts: factsOf({ agent_id, key_id, invalid_from: invalidFromOf(JSON.parse(details) as object) }),
  }))
}
