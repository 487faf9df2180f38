import { CryptoError } from '@agent-exchange/crypto'
import { LogError } from '../errors.ts'
import { leafOfShownEvent } from './shown-key-event.ts'
import type { Capsule, KeyEventProof } from './capsule-format.ts'
import type { Checks, CheckValues } from '../verdict/check.ts'
import type { OpenedLog } from './open-log.ts'
import type { Placed } from './place-leaf.ts'

/** A key event that is in the log. */
export interface LoggedKeyEvent {
  readonly event: KeyEventProof
  readonly index: number
}

/** The events of each key, under its `keyName`. */
export function eventsByKey(logged: readonly LoggedKeyEvent[]): ReadonlyMap<string, LoggedKeyEvent[]> {
  return Map.groupBy(logged, ({ event }) => keyName(event.agent_id, event.key_id))
}

/** Ids of keys are unique for one agent only. */
export function keyName(agentId: string, keyId: string): string {
  return JSON.stringify([agentId, keyId])
}

/** Key events are in the log: each number of an agent once, in the order of their numbers, and without gaps. */
export function verifyKeyLeaves(
  { log: { key_events: events } }: Capsule,
  log: OpenedLog,
  checks: Checks,
): LoggedKeyEvent[] {
  const logged = events.flatMap((event): LoggedKeyEvent[] => {
    const index = placeEvent(event, log, checks)
    return index === undefined ? [] : [{ event, index }]
  })
  for (const [agent_id, own] of Map.groupBy(logged, ({ event }) => event.agent_id)) {
    const ordered = own.toSorted((a, b) => a.event.number - b.event.number)
    const fails = (fault: 'duplicate' | 'order' | 'missing', values: CheckValues) =>
      checks.fails('key_event_numbers', { agent_id, values: { fault, ...values } })
    let isCounted = true
    for (const [at, { event, index }] of ordered.entries()) {
      const { number } = event
      const before = ordered[at - 1]
      if (before?.event.number === number) isCounted = fails('duplicate', { number })
      else if (before && before.index >= index) isCounted = fails('order', { number })
    }
    const last = ordered.at(-1)?.event.number ?? 0
    const missing = last - new Set(ordered.map(({ event }) => event.number)).size
    // A missing one hides a revocation, or lies out of sight of the agent's monitor, which watches the next numbers only.
    if (missing > 0) isCounted = fails('missing', { last, missing })
    if (isCounted) checks.holds('key_event_numbers', { agent_id, values: { last } })
    checks.unproved('later_key_events', { agent_id, values: { last } })
  }
  return logged
}

function placeEvent({ proof, ...event }: KeyEventProof, log: OpenedLog, checks: Checks): number | undefined {
  const { agent_id, key_id, number, kind } = event
  const { index, fault } = placed(() => log.place(leafOfShownEvent(event), proof))
  if (index === undefined) checks.fails('key_event_leaf', { agent_id, key_id, values: { number, fault } })
  else
    checks.holds('key_event_leaf', {
      agent_id,
      key_id,
      values: { number, kind, index, ...log.boundsOf(index) },
    })
  return index
}

/** A leaf whose fields cannot be encoded is in no log. */
export function placed(place: () => Placed): Placed {
  try {
    return place()
  } catch (error) {
    if (error instanceof LogError || error instanceof CryptoError) return { fault: 'leaf_field' }
    throw error
  }
}
