import { EMPTY_ROOT } from '@agent-exchange/log'
import type { Queries, Transaction } from '../../db/database.ts'

/** This file owns the table log_state, which has one row. */
export interface LogState {
  readonly origin: string
  readonly size: number
  readonly root: Uint8Array
  readonly backfilled_through: string | null
  readonly is_backfilled: boolean
  readonly holder: string | null
  /** JSON of {@link Refusal}. */
  readonly refusal: string | null
  readonly reported_at: string | null
}

/** Why the sequencer must not sign. */
export interface Refusal {
  readonly reason:
    | 'behind_checkpoint_file'
    | 'fork_of_checkpoint_file'
    | 'other_origin'
    | 'behind_witness'
    | 'fork_of_witness'
    | 'tiles_damaged'
    | 'witnesses_unreachable'
  /** The size that the file or the witness knows. */
  readonly known_size?: number
  readonly own_size: number
  readonly witness?: string
}

/** The origin of an existing log never changes: it names the key that signs. */
export async function ensureLogState(queries: Queries, origin: string): Promise<LogState> {
  await queries`
    insert into log_state (origin, root) values (${origin}, ${EMPTY_ROOT}) on conflict do nothing`
  return readLogState(queries)
}

export async function readLogState(queries: Queries): Promise<LogState> {
  const [row] = await queries<LogState[]>`
    select origin, size, root, backfilled_through, is_backfilled, holder, refusal, reported_at from log_state`
  if (!row) throw new Error('the transparency log has no state')
  return row
}

/** Another sequencer has appended since this one read the tree. */
export class SequencerFenced extends Error {
  override readonly name = 'SequencerFenced'
}

interface Head {
  readonly size: number
  readonly root: Uint8Array
}

/** Fails if the tree is not the one that the caller appended to: two sequencers can never fork it. */
export async function moveHead(tx: Transaction, before: Head, after: Head): Promise<void> {
  const { count } = await tx`
    update log_state set size = ${after.size}, root = ${after.root}
    where size = ${before.size} and root = ${before.root}`
  if (count !== 1) throw new SequencerFenced('another sequencer appended to the transparency log')
}

export async function saveBackfill(tx: Transaction, through: string, isDone: boolean): Promise<void> {
  await tx`update log_state set backfilled_through = ${through}, is_backfilled = ${isDone}`
}

/** Which process is at work, and why it refuses to sign. */
export async function report(
  queries: Queries,
  { holder, refusal, now }: { holder: string; refusal: Refusal | undefined; now: string },
): Promise<void> {
  await queries`
    update log_state set holder = ${holder}, refusal = ${refusal ? JSON.stringify(refusal) : null},
      reported_at = ${now}`
}
