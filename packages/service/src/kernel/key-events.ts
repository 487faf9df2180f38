import { keyLeaf } from '@agent-exchange/log'
import type { Transaction } from '@agent-exchange/database'
import { toLogBatch } from './log-batch.ts'
import { queueLogBatch } from './log-pending-store.ts'

/** Table agent_key_event: the append-only history of a key (ID-04). */
export interface KeyEvent {
  readonly eventId: string
  readonly agentId: string
  readonly keyId: string
  readonly kind: 'registered' | 'retiring' | 'revoked'
  readonly recordedAt: string
  readonly actor: string
  readonly details: object
  /** Of a platform key, which is not in the directory of agents. */
  readonly key?: KeyFacts
}

interface KeyFacts {
  readonly use: string
  readonly thumbprint: string
  readonly valid_from: string
}

interface AgentRow {
  readonly organization_id: string
  /** How many key events the agent has. */
  readonly events: number
}

/** Without a key of the agent, the columns of its key are null. */
type KeyOfAgent = AgentRow & KeyFacts & { readonly key_id: string }

/**
 * Appends events of one agent, whose lock the caller holds, and queues a leaf of each for the transparency log. The
 * keys are already stored. The number in a leaf counts all key events of the agent.
 */
export async function appendKeyEvents(tx: Transaction, events: readonly KeyEvent[]): Promise<void> {
  const [first] = events
  if (!first) return
  const keys = await keysOf(tx, first.agentId, events)
  const [agent] = keys
  if (!agent) throw new Error('a key event of an agent that is not stored')
  const numbered = events.map((event, index) => ({ event, key: event.key ?? keyNamed(keys, event), index }))
  const batch = toLogBatch(numbered, ({ event, key, index }, salt) =>
    keyLeaf(
      {
        organizationId: agent.organization_id,
        agentId: event.agentId,
        number: agent.events + index + 1,
        keyId: event.keyId,
        kind: event.kind,
        use: key.use,
        thumbprint: key.thumbprint,
        validFrom: key.valid_from,
        recordedAt: event.recordedAt,
        invalidFrom: invalidFromOf(event.details),
      },
      salt,
    ),
  )
  await insertEvents(tx, events)
  await insertPlaces(
    tx,
    events.map(({ eventId }) => eventId),
    batch.batchId,
  )
  await queueLogBatch(tx, batch)
}

/** The time that the log shows, for a revocation. */
export function invalidFromOf(details: object): string | undefined {
  return (details as { invalid_from?: string }).invalid_from
}

function keyNamed(keys: readonly KeyOfAgent[], { keyId }: KeyEvent): KeyFacts {
  const key = keys.find((each) => each.key_id === keyId)
  if (!key) throw new Error('an event of a key that is not stored')
  return key
}

async function keysOf(
  tx: Transaction,
  agentId: string,
  events: readonly KeyEvent[],
): Promise<readonly KeyOfAgent[]> {
  return tx<KeyOfAgent[]>`
    select organization_id, key_id, use, thumbprint, valid_from, (
      select count(*) from agent_key_event where agent_key_event.agent_id = ${agentId}) as events
    from agent left join agent_key on agent_key.agent_id = agent.agent_id
      and key_id = any(${events.map(({ keyId }) => keyId)})
    where agent.agent_id = ${agentId}`
}

/** All events in one statement, in order. */
async function insertEvents(tx: Transaction, events: readonly KeyEvent[]): Promise<void> {
  const rows = events.map((event, place) => ({
    place,
    event_id: event.eventId,
    agent_id: event.agentId,
    key_id: event.keyId,
    kind: event.kind,
    recorded_at: event.recordedAt,
    actor: event.actor,
    details: JSON.stringify(event.details),
  }))
  await tx`
    insert into agent_key_event (event_id, agent_id, key_id, kind, recorded_at, actor, details)
    select event_id, agent_id, key_id, kind, recorded_at, actor, details
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as row (
      place integer, event_id text, agent_id text, key_id text, kind text, recorded_at timestamptz, actor text,
      details text)
    order by place`
}

/** Table log_key_event: where the leaf of each event is in the transparency log. */
export async function insertPlaces(
  tx: Transaction,
  eventIds: readonly string[],
  batchId: Uint8Array,
): Promise<void> {
  await tx`
    insert into log_key_event (event_id, batch_id, log_offset)
    select event_id, ${batchId}, place - 1
    from unnest(${[...eventIds]}::text[]) with ordinality as event (event_id, place)`
}
