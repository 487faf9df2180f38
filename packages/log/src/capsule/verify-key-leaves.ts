import { CryptoError } from '@agent-exchange/crypto'
import { LogError } from '../errors.ts'
import { leafOfShownEvent } from './shown-key-event.ts'
import type { Capsule, KeyEventProof } from './capsule-format.ts'
import type { CapsuleFindings } from './capsule-result.ts'
import type { OpenedLog } from './open-log.ts'

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
  findings: CapsuleFindings,
): LoggedKeyEvent[] {
  const logged = events.flatMap((event): LoggedKeyEvent[] => {
    const index = placeEvent(event, log, findings)
    return index === undefined ? [] : [{ event, index }]
  })
  for (const [agentId, own] of Map.groupBy(logged, ({ event }) => event.agent_id)) {
    const ordered = own.toSorted((a, b) => a.event.number - b.event.number)
    for (const [at, { event, index }] of ordered.entries()) {
      const before = ordered[at - 1]
      if (before?.event.number === event.number)
        findings.fail(
          'key_event_duplicate',
          `The log holds two different key events number ${event.number} of ${agentId}: the exchange kept two histories.`,
        )
      else if (before && before.index >= index)
        findings.fail(
          'key_event_order',
          `The log holds key events of ${agentId} in another order than their numbers.`,
        )
    }
    verifyNumbers(agentId, ordered, findings)
  }
  return logged
}

/**
 * The exchange numbers the key events of an agent from 1, and an exporter gets all of them. A missing one hides a
 * revocation, or lies out of sight of the agent's monitor, which watches the next numbers only.
 */
function verifyNumbers(agentId: string, ordered: readonly LoggedKeyEvent[], findings: CapsuleFindings): void {
  const last = ordered.at(-1)?.event.number ?? 0
  const distinct = new Set(ordered.map(({ event }) => event.number)).size
  if (distinct < last)
    findings.fail(
      'key_event_missing',
      `The capsule shows key event ${last} of ${agentId} and leaves out ${last - distinct} of the events before it.`,
    )
  else findings.hold(`The capsule shows every key event of ${agentId} up to number ${last}`)
  findings.leaveOpen(
    `whether keys of ${agentId} changed after event ${last}`,
    'Inclusion is not completeness. Scan the log for the next numbers, or ask the owner.',
  )
}

function placeEvent(
  { salt, proof, ...event }: KeyEventProof,
  log: OpenedLog,
  findings: CapsuleFindings,
): number | undefined {
  const what = `key event ${event.number} of ${event.agent_id}`
  try {
    const leaf = leafOfShownEvent({ ...event, salt })
    const index = log.place(leaf, proof, what)
    if (index !== undefined) {
      findings.hold(`Key event ${event.number} of ${event.agent_id} is in the log`, `leaf ${index}`)
      findings.prove({
        what: `Key ${event.key_id} of ${event.agent_id} was ${event.kind} (key event ${event.number})`,
        agentId: event.agent_id,
        keyId: event.key_id,
        index,
        ...log.boundsOf(index),
      })
    }
    return index
  } catch (error) {
    if (!(error instanceof LogError || error instanceof CryptoError)) throw error
    findings.fail('leaf_field', `The leaf of ${what} is malformed. ${error.message}`)
    return undefined
  }
}
