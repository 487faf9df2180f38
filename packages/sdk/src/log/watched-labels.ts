import { jwkThumbprint } from '@agent-exchange/crypto'
import { keyLabel, recordLabel, type EvidenceBundle } from '@agent-exchange/log'
import type { AgentContext } from '../context.ts'
import { ExchangeError } from '../errors.ts'
import { readEvidence } from '../evidence/read-evidence.ts'
import { fetchKeyEvents, fetchRecords, type LoggedKeyEvent } from './log-answers.ts'

/** Numbers and positions beyond the last known one that are watched: an event that the exchange hides is among them. */
const LOOKAHEAD = 64
/** Each label takes about 200 bytes of memory. */
const MAXIMUM_LABELS = 500_000

/** What a label of this agent would mean, if it were in the log. */
export interface Watched {
  /** For sentences. */
  readonly what: string
  /** Whether the exchange shows this event to its parties. */
  readonly isShown: boolean
  /** The index that the exchange says; undefined while it is pending. */
  readonly index?: number
}

/** By label, in hexadecimal. */
export type WatchedLabels = ReadonlyMap<string, Watched>

/** Labels of everything that could concern this agent: its key events, and all positions of its threads. */
export async function watchLabels(
  context: AgentContext,
  threads: readonly string[],
): Promise<{ readonly labels: WatchedLabels; readonly unknownKeys: readonly LoggedKeyEvent[] }> {
  const labels = new Map<string, Watched>()
  const { agentId } = context.identity
  const events = await fetchKeyEvents(context, agentId)
  const shown = new Map(events.map((event) => [event.number, event]))
  const last = Math.max(0, ...shown.keys())
  for (let number = 1; number <= last + LOOKAHEAD; number++)
    labels.set(toHex(keyLabel({ agentId, number })), {
      what: `key event ${number} of ${agentId}`,
      ...shownAt(shown.get(number)),
    })
  for (const threadId of threads)
    await watchThread(context, await readEvidence(context, { threadId }), labels)
  return { labels, unknownKeys: await keysOfOthers(context, events) }
}

async function watchThread(
  context: AgentContext,
  { entries, packages, thread_id: threadId }: EvidenceBundle,
  labels: Map<string, Watched>,
): Promise<void> {
  const end = Math.max(0, ...entries.map(({ position }) => position)) + LOOKAHEAD
  if (labels.size + end * packages.length > MAXIMUM_LABELS)
    throw new ExchangeError('input_invalid', {
      what: `The threads have more than ${MAXIMUM_LABELS} labels. Monitor fewer of them at a time.`,
    })
  for (const { metadata, policy_receipt: receipt } of packages) {
    const { package_id: packageId, content_digest: contentDigest } = metadata
    const records = await fetchRecords(context, { package_id: packageId })
    const shown = new Map(records.map((record) => [record.first_position, record]))
    for (let firstPosition = 1; firstPosition <= end; firstPosition++) {
      const receiptSignature = receipt.signature.signature
      const label = recordLabel({ packageId, contentDigest, receiptSignature, firstPosition })
      labels.set(toHex(label), {
        what: `the record of ${packageId} from entry ${firstPosition} of ${threadId} on`,
        ...shownAt(shown.get(firstPosition)),
      })
    }
  }
}

function shownAt(event: { readonly index?: number } | undefined): Omit<Watched, 'what'> {
  return { isShown: event !== undefined, ...(event?.index !== undefined && { index: event.index }) }
}

/** Keys that the exchange shows for this agent and that its key store never made. */
async function keysOfOthers(
  { keys }: AgentContext,
  events: readonly LoggedKeyEvent[],
): Promise<LoggedKeyEvent[]> {
  const own = new Set(await Promise.all((await keys.list()).map(({ publicJwk }) => jwkThumbprint(publicJwk))))
  const unknown = events.filter(({ thumbprint }) => !own.has(thumbprint))
  return [...new Map(unknown.map((event) => [event.thumbprint, event])).values()]
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}
