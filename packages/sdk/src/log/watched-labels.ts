import { keyLabel, recordLabel, type EvidenceBundle } from '@agent-exchange/log'
import type { AgentContext } from '../context.ts'
import { readEvidence } from '../evidence/read-evidence.ts'
import { isNotFound } from '../exchange/evaluate-draft.ts'
import { fetchKeyEvents, fetchRecords, type LoggedKeyEvent, type LoggedRecord } from './log-answers.ts'
import { shownKeyLeaf } from './own-key-events.ts'

/**
 * At least these numbers of positions and key events beyond the last known one are watched: an event that the exchange hides is
 * among them. Key events are few, and a false key does the most harm.
 */
const POSITIONS_AHEAD = 64
const KEY_EVENTS_AHEAD = 4_096
/** Each label takes about 200 bytes of memory. */
const MAXIMUM_LABELS = 500_000

/** What a label of this agent would mean, if it were in the log. */
export interface Watched {
  /** For sentences. */
  readonly what: string
  /** The package or the agent of the event, and its position or number. */
  readonly subject: string
  readonly number: number
  /** Whether the exchange shows this event to its parties. */
  readonly isShown: boolean
  /** The index that the exchange says; undefined while it is pending. */
  readonly index?: number
  /** The whole leaf, where what the exchange shows determines it. */
  readonly leaf?: Uint8Array
}

/** By label, in hexadecimal. */
export type WatchedLabels = ReadonlyMap<string, Watched>

interface Watch {
  readonly labels: WatchedLabels
  readonly keyEvents: readonly LoggedKeyEvent[]
  /** Threads whose labels are watched. */
  readonly threads: readonly string[]
  /** Threads that the exchange does not show. */
  readonly unreadable: readonly string[]
  /** Threads for which there is no room. */
  readonly unwatched: readonly string[]
}

/** Labels of everything that could concern this agent: its key events, and all positions of its threads. */
export async function watchLabels(context: AgentContext, threads: readonly string[]): Promise<Watch> {
  const labels = new Map<string, Watched>()
  const keyEvents = await fetchKeyEvents(context, context.identity.agentId)
  watchKeyEvents(context.identity.agentId, keyEvents, labels)
  const [watched, unreadable, unwatched]: [string[], string[], string[]] = [[], [], []]
  for (const threadId of threads) {
    const evidence = await readEvidence(context, { threadId }).catch((error: unknown) => {
      if (isNotFound(error)) return undefined
      throw error
    })
    if (!evidence) unreadable.push(threadId)
    else if (labels.size + lastWatched(evidence) * evidence.packages.length > MAXIMUM_LABELS)
      unwatched.push(threadId)
    else {
      await watchThread(context, evidence, labels)
      watched.push(threadId)
    }
  }
  return { labels, keyEvents, threads: watched, unreadable, unwatched }
}

/** In steps, so that a label that was never searched is rare: it makes the monitor look back. */
function ahead(last: number, step: number): number {
  return (Math.floor(last / step) + 2) * step
}

function lastWatched({ entries }: EvidenceBundle): number {
  return ahead(Math.max(0, ...entries.map(({ position }) => position)), POSITIONS_AHEAD)
}

function watchKeyEvents(
  agentId: string,
  events: readonly LoggedKeyEvent[],
  labels: Map<string, Watched>,
): void {
  const shown = new Map(events.map((event) => [event.number, event]))
  const last = ahead(events.length, KEY_EVENTS_AHEAD)
  for (let number = 1; number <= last; number++) {
    const event = shown.get(number)
    const leaf = event && shownKeyLeaf(agentId, event)
    labels.set(toHex(keyLabel({ agentId, number })), {
      what: `key event ${number} of ${agentId}`,
      subject: agentId,
      number,
      ...shownAt(event),
      ...(leaf && { leaf }),
    })
  }
}

async function watchThread(
  context: AgentContext,
  evidence: EvidenceBundle,
  labels: Map<string, Watched>,
): Promise<void> {
  const { packages, thread_id: threadId } = evidence
  const end = lastWatched(evidence)
  const records: LoggedRecord[] = []
  for (const { metadata } of packages)
    records.push(...(await fetchRecords(context, { package_id: metadata.package_id })))
  const recorded = new Set<number>()
  for (const { first_position: first, last_position: last } of records)
    for (let position = first; position <= Math.min(last, end); position++) recorded.add(position)
  for (const { metadata, policy_receipt: receipt, positions } of packages) {
    const { package_id: packageId, content_digest: contentDigest } = metadata
    const own = records.filter((record) => record.package_id === packageId)
    const shown = new Map(own.map((record) => [record.first_position, record]))
    // An entry without a record waits for its leaf like one whose record is pending.
    const waiting = new Set(positions.filter((position) => !recorded.has(position)))
    for (let firstPosition = 1; firstPosition <= end; firstPosition++) {
      const receiptSignature = receipt.signature.signature
      const label = recordLabel({ packageId, contentDigest, receiptSignature, firstPosition })
      labels.set(toHex(label), {
        what: `the record of ${packageId} from entry ${firstPosition} of ${threadId} on`,
        subject: packageId,
        number: firstPosition,
        ...shownAt(shown.get(firstPosition) ?? (waiting.has(firstPosition) ? {} : undefined)),
      })
    }
  }
}

function shownAt(event: { readonly index?: number } | undefined): Pick<Watched, 'isShown' | 'index'> {
  return { isShown: event !== undefined, ...(event?.index !== undefined && { index: event.index }) }
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
