import { EMPTY_ROOT } from '@agent-exchange/log'
import type { Queries, Transaction } from '@agent-exchange/database'
import type { Damage } from './damage.ts'

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
  /** How long the tree has had leaves that no published checkpoint covers. */
  readonly unpublished_seconds: number
  /** JSON of the `Damage` that was found; null where none is known. */
  readonly damage: string | null
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

/** The origin of an existing log changes by `aex log recover --new-origin` only. */
export async function ensureLogState(queries: Queries, origin: string): Promise<LogState> {
  await queries`
    insert into log_state (origin, root) values (${origin}, ${EMPTY_ROOT}) on conflict do nothing`
  return readLogState(queries)
}

export async function readLogState(queries: Queries): Promise<LogState> {
  const [row] = await queries<LogState[]>`
    select origin, size, root, backfilled_through, is_backfilled, holder, refusal, reported_at, damage,
      coalesce(extract(epoch from now() - unpublished_since), 0)::integer as unpublished_seconds
    from log_state`
  if (!row) throw new Error('the transparency log has no state')
  return row
}

/** Another sequencer has appended since this one read the tree. */
export class SequencerFenced extends Error {
  override readonly name = 'SequencerFenced'
}

export interface TreeHead {
  readonly size: number
  readonly root: Uint8Array
}

/** Fails if the tree is not the one that the caller appended to: two sequencers can never fork it. */
export async function moveHead(tx: Transaction, before: TreeHead, after: TreeHead): Promise<void> {
  const { count } = await tx`
    update log_state set size = ${after.size}, root = ${after.root},
      unpublished_since = coalesce(unpublished_since, now())
    where size = ${before.size} and root = ${before.root}`
  if (count !== 1) throw new SequencerFenced('another sequencer appended to the transparency log')
}

/**
 * Flushes the tree to the disk, and to synchronous standbys: appends do not wait for that. Fails if the tree is not the
 * caller's, as after a crash that lost its last appends.
 */
export async function confirmHead(queries: Queries, { size, root }: TreeHead): Promise<void> {
  const { count } = await queries`
    update log_state set size = size where size = ${size} and root = ${root}`
  if (count !== 1) throw new SequencerFenced('the transparency log is not the one that was appended to')
}

export async function saveBackfill(tx: Transaction, through: string, isDone: boolean): Promise<void> {
  await tx`update log_state set backfilled_through = ${through}, is_backfilled = ${isDone}`
}

/** Leaves that were appended while the checkpoint was published wait from now on. */
export async function markPublished(queries: Queries, size: number): Promise<void> {
  await queries`update log_state set unpublished_since = case when size > ${size} then now() end`
}

interface Report {
  readonly holder: string
  readonly refusal: Refusal | undefined
  readonly now: string
}

/** This process is at work from now on, and may refuse to sign. */
export async function reportStart(queries: Queries, { holder, refusal, now }: Report): Promise<void> {
  await queries`
    update log_state set holder = ${holder}, refusal = ${refusalText(refusal)}, reported_at = ${now}`
}

/** Has no effect once another process is at work: a witness may have refused this one because the other was faster. */
export async function reportRefusal(queries: Queries, { holder, refusal, now }: Report): Promise<boolean> {
  const { count } = await queries`
    update log_state set refusal = ${refusalText(refusal)}, reported_at = ${now} where holder = ${holder}`
  return count > 0
}

function refusalText(refusal: Refusal | undefined): string | null {
  return refusal ? JSON.stringify(refusal) : null
}

/** The first one is kept until it is repaired. */
export async function saveDamage(queries: Queries, damage: Damage): Promise<void> {
  await queries`update log_state set damage = ${JSON.stringify(damage)} where damage is null`
}

export async function clearDamage(queries: Queries): Promise<void> {
  await queries`update log_state set damage = null`
}

/** Kinds of alerts whose cause has not ended. Other processes wait until the end of the transaction. */
export async function lockAlerted(tx: Transaction): Promise<readonly string[]> {
  const [row] = await tx<{ alerted: string[] }[]>`select alerted from log_state for no key update`
  return row?.alerted ?? []
}

export async function saveAlerted(tx: Transaction, kinds: readonly string[]): Promise<void> {
  await tx`update log_state set alerted = ${[...kinds]}`
}

/** The tree stays as it is; nothing of it is published under the new name yet. */
export async function changeOrigin(tx: Transaction, origin: string): Promise<void> {
  await tx`update log_state set origin = ${origin}, refusal = null, unpublished_since = now()`
}
