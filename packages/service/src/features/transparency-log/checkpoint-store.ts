import type { Checkpoint } from '@agent-exchange/log'
import type { Queries } from '@agent-exchange/database'
import { markPublished, SequencerFenced } from './log-state-store.ts'

/** This file owns the table log_checkpoint. */
export interface SignedCheckpoint {
  readonly origin: string
  readonly size: number
  readonly root: Uint8Array
  readonly note: string
  readonly signed_at: string
}

export interface PublishedCheckpoint extends SignedCheckpoint {
  readonly published: string
  readonly published_at: string
}

/** Of each size at most one checkpoint is signed, and only of the tree that is stored. */
export async function insertCheckpoint(
  queries: Queries,
  { origin, size, root }: Checkpoint,
  { note, now }: { note: string; now: string },
): Promise<void> {
  const { count } = await queries`
    insert into log_checkpoint (origin, size, root, note, signed_at)
    select ${origin}, ${size}, ${root}, ${note}, ${now} from log_state
    where origin = ${origin} and size = ${size} and root = ${root}`
  if (count !== 1) throw new SequencerFenced('the tree changed before its checkpoint was stored')
}

export async function publishCheckpoint(
  queries: Queries,
  { origin, size }: Checkpoint,
  { published, now }: { published: string; now: string },
): Promise<void> {
  await queries`
    update log_checkpoint set published = ${published}, published_at = ${now}
    where origin = ${origin} and size = ${size} and published is null`
  await markPublished(queries, size)
}

export async function latestSigned(queries: Queries, origin: string): Promise<SignedCheckpoint | undefined> {
  const [row] = await queries<SignedCheckpoint[]>`
    select origin, size, root, note, signed_at from log_checkpoint where origin = ${origin}
    order by size desc limit 1`
  return row
}

export async function latestPublished(queries: Queries): Promise<PublishedCheckpoint | undefined> {
  const [row] = await queries<PublishedCheckpoint[]>`
    select origin, size, root, note, signed_at, published, published_at from log_checkpoint
    where origin = (select origin from log_state) and published is not null order by size desc limit 1`
  return row
}

/** A checkpoint of ours that came back from a mirror. It is published again as it is. */
export async function adoptCheckpoint(
  queries: Queries,
  { origin, size, root }: Checkpoint,
  { note, now }: { note: string; now: string },
): Promise<void> {
  await queries`
    insert into log_checkpoint (origin, size, root, note, signed_at, published, published_at)
    values (${origin}, ${size}, ${root}, ${note}, ${now}, ${note}, ${now}) on conflict do nothing`
}
