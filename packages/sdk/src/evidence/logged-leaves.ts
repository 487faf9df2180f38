import type { LoggedKeyEvent, LoggedRecord } from '@agent-exchange/protocol'
import {
  formatProof,
  parseProof,
  proveInclusion,
  type KeyEventProof,
  type ReadTile,
} from '@agent-exchange/log'
import type { AgentContext } from '../context.ts'
import type { AcceptedCheckpoint } from '../log/accept-checkpoint.ts'
import { fetchKeyEvents } from '../log/log-answers.ts'

/** A record or a key event that the exchange accepted and the log does not include yet. */
export interface PendingLeaf {
  readonly what: 'record' | 'key_event'
  readonly packageId?: string
  readonly agentId?: string
  /** Position of the first entry, or number of the key event. */
  readonly number: number
}

export type KeyEventOfAgent = LoggedKeyEvent & { readonly agent_id: string }

export async function keyEventsOf(
  context: AgentContext,
  agentIds: ReadonlySet<string>,
): Promise<KeyEventOfAgent[]> {
  const events: KeyEventOfAgent[] = []
  for (const agentId of agentIds)
    for (const event of await fetchKeyEvents(context, agentId)) events.push({ ...event, agent_id: agentId })
  return events
}

export function pendingOf(
  records: readonly LoggedRecord[],
  events: readonly KeyEventOfAgent[],
  size: number,
): PendingLeaf[] {
  return [
    ...records
      .filter((each) => !isIncluded(each, size))
      .map((each): PendingLeaf => ({
        what: 'record',
        packageId: each.package_id,
        number: each.chain?.first_position ?? each.first_position,
      })),
    ...events
      .filter((each) => !isIncluded(each, size))
      .map((each): PendingLeaf => ({ what: 'key_event', agentId: each.agent_id, number: each.number })),
  ]
}

export type Included<T> = T & { readonly salt: string; readonly index: number }

export function isIncluded<T extends LoggedRecord | LoggedKeyEvent>(
  leaf: T,
  size: number,
): leaf is Included<T> {
  return leaf.pending !== true && leaf.salt !== undefined && leaf.index !== undefined && leaf.index < size
}

export async function keyEventProofs(
  events: readonly KeyEventOfAgent[],
  checkpoint: AcceptedCheckpoint,
  readTile: ReadTile,
): Promise<KeyEventProof[]> {
  const proofs: KeyEventProof[] = []
  for (const each of events)
    if (isIncluded(each, checkpoint.size)) {
      const { organization_id, agent_id, number, key_id, kind, use, thumbprint } = each
      const { valid_from, recorded_at, invalid_from, salt } = each
      const event = { organization_id, agent_id, number, key_id, kind, use, thumbprint, valid_from }
      const ending = { recorded_at, ...(invalid_from !== undefined && { invalid_from }), salt }
      proofs.push({ ...event, ...ending, proof: await proofOf(each, checkpoint, readTile) })
    }
  return proofs
}

/** As the exchange gave it; made from tiles where that one leads to an earlier checkpoint. */
export async function proofOf(
  { index, proof }: { readonly index: number; readonly proof?: string },
  { note, size }: AcceptedCheckpoint,
  readTile: ReadTile,
): Promise<string> {
  if (proof !== undefined && parseProof(proof).checkpoint === note) return proof
  return formatProof({ index, hashes: await proveInclusion(index, size, readTile), checkpoint: note })
}
