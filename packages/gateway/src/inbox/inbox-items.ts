import { createHash, randomBytes, randomUUID } from 'node:crypto'
import {
  afterCommit,
  deferToCommit,
  type Database,
  type Fragment,
  type Queries,
  type Transaction,
} from '@agent-exchange/database'
import { MasterKeyError } from '@agent-exchange/server/master-key'
import type { ContentStore, Reader, SealedRow } from '../content/content-store.ts'
import { deleteInSteps } from '../stores/delete-in-steps.ts'
import { wrappedColumn } from '../stores/wrapped-rows.ts'
import {
  toItem,
  type InboxItem,
  type ItemRow,
  type LeasedContent,
  type LeasedItem,
  type NewItem,
  type SetAsideItem,
} from './inbox-item.ts'
import {
  FINISHED_ITEM_DAYS,
  FINISHED_ITEMS_A_STEP,
  FIRST_BACKOFF_SECONDS,
  MAXIMUM_ATTEMPTS,
  MAXIMUM_BACKOFF_SECONDS,
  MAXIMUM_LEASE_SECONDS,
} from './inbox-limits.ts'

/** Owner of the table inbox_item. Times are those of the database: clocks of instances may differ. */

/** Why an item failed: words of the gateway, or a reason of a system, which may quote content and is encrypted. */
type Failure = string | { readonly wrapped: Uint8Array }

/** For the encryption of reasons. */
export const failureContext = (itemId: string) => `inbox failure/${itemId}`

/** `missing`: there is no such item among these agents. `stale`: the lease has ended, or another one began. */
export type LeaseOutcome = 'settled' | 'stale' | 'missing'

/** Payloads are agent ids. A second word names the instance that has woken a request of its own already. */
export const INBOX_CHANNEL = 'gateway_inbox'

const LEASE_TOKEN_BYTES = 32
const NO_REASON = 'The lease ended without an answer.'
/** Of an item whose content cannot be decrypted. */
export const UNREADABLE_CONTENT = 'The stored content cannot be read.'

/** Serializes changes of the order within a thread. */
const lockThread = (tx: Transaction, agentId: string, threadId: string) =>
  tx`select pg_advisory_xact_lock(hashtextextended(${`inbox ${agentId} ${threadId}`}, 0))`

const announce = (tx: Queries, agentId: string) => tx`select pg_notify(${INBOX_CHANNEL}, ${agentId})`

/** Makes the earliest waiting item of the thread available, unless another one is, and announces it. */
const offerNext = (tx: Transaction, agentId: string, threadId: string, payload = agentId) => tx`
  with offered as (
    update inbox_item set available_at = clock_timestamp()
    where item_id = (
      select item_id from inbox_item where agent_id = ${agentId} and thread_id = ${threadId} and state = 'waiting'
      order by sequence limit 1)
    and not exists (
      select from inbox_item where agent_id = ${agentId} and thread_id = ${threadId} and state = 'waiting'
        and available_at is not null)
    returning item_id)
  select pg_notify(${INBOX_CHANNEL}, ${payload}) from offered`

/** Requests of this instance that wait for items. */
export interface LocalWaiters {
  /** Names the instance. */
  readonly instance: string
  /** Called after the commit that made an item of the agent available. */
  readonly onItem: (agentId: string) => void
}

/** Sent with the commit. A request of this instance does not have to wait for the notification. */
export function insertItem(
  tx: Transaction,
  item: Omit<NewItem, 'sequence'> & { readonly sequence: number | Fragment },
  local?: LocalWaiters,
): void {
  const { agentId, packageId, threadId, sequence, contentType, receivedAt } = item
  const locked = lockThread(tx, agentId, threadId)
  const inserted = tx`
    insert into inbox_item (item_id, agent_id, package_id, thread_id, sequence, content_type, received_at)
    values (${`item_${randomUUID()}`}, ${agentId}, ${packageId}, ${threadId}, ${sequence}, ${contentType},
      ${receivedAt})
    on conflict (agent_id, package_id) do nothing`
  const offered = offerNext(tx, agentId, threadId, local && `${agentId} ${local.instance}`)
  deferToCommit(tx, locked, inserted, offered)
  if (local)
    afterCommit(tx, () => void offered.then(({ count }) => (count > 0 ? local.onItem(agentId) : undefined)))
}

export interface InboxStores {
  readonly db: Database
  readonly contents: Pick<ContentStore, 'open'>
}

export interface TakeRequest {
  readonly agentIds: readonly string[]
  readonly max: number
  readonly visibilitySeconds: number
  /** Id of the system that takes them. */
  readonly by: string
  /** Who reads the content of an agent's items. */
  readonly reader: (agentId: string) => Reader
}

/**
 * Takes what is available, the longest waiting first, and reads its content. An item that was taken too often is set
 * aside instead.
 */
export async function takeItems({ db, contents }: InboxStores, request: TakeRequest): Promise<LeasedItem[]> {
  const { agentIds } = request
  if (agentIds.length === 0) return []
  const settingAside = setAsideExhausted(db, agentIds)
  // Not awaited where items were taken: if it fails, the next request repeats it.
  settingAside.catch(() => undefined)
  const taken = await takeAvailable({ db, contents }, request)
  if (taken.length > 0) return taken
  // The threads of those that were set aside go on.
  return (await settingAside) > 0 ? takeAvailable({ db, contents }, request) : taken
}

async function takeAvailable(
  { db, contents }: InboxStores,
  { agentIds, max, visibilitySeconds, by, reader }: TakeRequest,
): Promise<LeasedItem[]> {
  const leaseToken = randomBytes(LEASE_TOKEN_BYTES).toString('base64url')
  const taken = await db.begin(async (tx) => {
    const rows = await tx<LeasedRow[]>`
      with taken as (
        update inbox_item set attempts = attempts + 1, leased_by = ${by}, leased_at = clock_timestamp(),
          lease_hash = ${hashOf(leaseToken)},
          available_at = clock_timestamp() + make_interval(secs => ${visibilitySeconds})
        where item_id = any(array(
          select item_id from inbox_item
          where agent_id = any(${[...agentIds]}) and state = 'waiting' and available_at <= clock_timestamp()
            and attempts < ${MAXIMUM_ATTEMPTS}
          order by available_at, item_id limit ${max} for update skip locked))
        returning item_id, agent_id, package_id, thread_id, sequence, content_type, received_at, attempts,
          available_at as lease_ends_at)
      select taken.*, direction, stored_at, retention_until, deleted_at, wrapped_key, sealed
      from taken left join lateral (
        select * from content
        where content.agent_id = taken.agent_id and content.package_id = taken.package_id for share) as stored on true`
    // The entries of the access record go with the commit.
    return rows.map((row) => {
      const content = contentOf(tx, contents, reader(row.agent_id), row)
      // Awaited below; this avoids an unhandled rejection if the transaction fails.
      content.catch(() => undefined)
      return { row, content }
    })
  })
  const items = taken.map(async ({ row, content }) => ({
    ...toItem(row),
    content: await content,
    leaseToken,
    leaseEndsAt: row.lease_ends_at,
  }))
  return (await Promise.all(items)).toSorted((one, other) => one.sequence - other.sequence)
}
type LeasedRow = ItemRow & { readonly lease_ends_at: string } & (SealedRow | { readonly direction: null })

/** One content that cannot be decrypted must not keep the other items from their consumer. */
function contentOf(
  tx: Transaction,
  contents: InboxStores['contents'],
  reader: Reader,
  row: LeasedRow,
): Promise<LeasedContent> {
  if (row.direction === null) return Promise.resolve(undefined)
  return contents.open(tx, reader, row.agent_id, row).catch((error: unknown) => {
    if (error instanceof MasterKeyError) return error
    throw error
  })
}

/** The last lease of these items ended without an answer. Returns how many there are. */
async function setAsideExhausted(db: Database, agentIds: readonly string[]): Promise<number> {
  const exhausted = await db<ItemRow[]>`
    select item_id, agent_id, thread_id from inbox_item
    where agent_id = any(${[...agentIds]}) and state = 'waiting' and available_at <= clock_timestamp()
      and attempts >= ${MAXIMUM_ATTEMPTS} limit 100`
  for (const { item_id, agent_id, thread_id } of exhausted)
    await db.begin(async (tx) => {
      await lockThread(tx, agent_id, thread_id)
      await tx`
        update inbox_item set state = 'set_aside', lease_hash = null, available_at = null,
          failure = case when failure_wrapped is null then coalesce(failure, ${NO_REASON}) end
        where item_id = ${item_id} and state = 'waiting' and available_at <= clock_timestamp()
          and attempts >= ${MAXIMUM_ATTEMPTS}`
      await offerNext(tx, agent_id, thread_id)
    })
  return exhausted.length
}

/** When the next of these items becomes available, in milliseconds; undefined if none waits for a time. */
export async function nextAvailableInMs(
  db: Queries,
  agentIds: readonly string[],
): Promise<number | undefined> {
  const [row] = await db<{ milliseconds: number | null }[]>`
    select (extract(epoch from min(available_at) - clock_timestamp()) * 1000)::float8 as milliseconds
    from inbox_item where agent_id = any(${[...agentIds]}) and state = 'waiting' and available_at is not null`
  return row?.milliseconds ?? undefined
}

interface LeaseRow extends ItemRow {
  readonly is_held: boolean
}

/** Runs `change` under the lock of the thread if the token is that of the current lease. Its statements go with the commit. */
async function withLease(
  db: Database,
  { agentIds, itemId, leaseToken }: LeaseReference,
  change: (tx: Transaction, item: InboxItem) => readonly Promise<unknown>[],
): Promise<LeaseOutcome> {
  return db.begin(async (tx) => {
    const [known] = await tx<{ agent_id: string; thread_id: string }[]>`
      select agent_id, thread_id from inbox_item where item_id = ${itemId} and agent_id = any(${[...agentIds]})`
    if (!known) return 'missing'
    deferToCommit(tx, lockThread(tx, known.agent_id, known.thread_id))
    const [row] = await tx<LeaseRow[]>`
      select item_id, agent_id, package_id, thread_id, sequence, content_type, received_at, attempts,
        state = 'waiting' and lease_hash = ${hashOf(leaseToken)} and available_at > clock_timestamp() as is_held
      from inbox_item where item_id = ${itemId} for update`
    if (!row?.is_held) return 'stale'
    deferToCommit(tx, ...change(tx, toItem(row)))
    return 'settled'
  })
}

export interface LeaseReference {
  /** Agents that the caller may act for. */
  readonly agentIds: readonly string[]
  readonly itemId: string
  readonly leaseToken: string
}

export function finishItem(db: Database, lease: LeaseReference): Promise<LeaseOutcome> {
  return withLease(db, lease, (tx, { itemId, agentId, threadId }) => [
    tx`
      update inbox_item set state = 'done', finished_at = clock_timestamp(), lease_hash = null, available_at = null,
        failure_wrapped = null
      where item_id = ${itemId}`,
    offerNext(tx, agentId, threadId),
  ])
}

/** Returns after a pause that doubles each time, or is set aside after the last attempt. */
export function failItem(db: Database, lease: LeaseReference, reason: Failure): Promise<LeaseOutcome> {
  const failure = typeof reason === 'string' ? reason : null
  const wrapped = typeof reason === 'string' ? null : reason.wrapped
  return withLease(db, lease, (tx, { itemId, agentId, threadId, attempts }) =>
    attempts < MAXIMUM_ATTEMPTS
      ? [
          tx`
            update inbox_item set lease_hash = null, failure = ${failure}, failure_wrapped = ${wrapped},
              available_at = clock_timestamp() + make_interval(secs => ${backoffSeconds(attempts)})
            where item_id = ${itemId}`,
          // Requests that wait learn when the item returns.
          announce(tx, agentId),
        ]
      : [
          tx`
            update inbox_item set state = 'set_aside', lease_hash = null, available_at = null, failure = ${failure},
              failure_wrapped = ${wrapped}
            where item_id = ${itemId}`,
          offerNext(tx, agentId, threadId),
        ],
  )
}

/** Returns an item that its consumer never got, without counting the attempt. */
export function releaseItem(db: Database, lease: LeaseReference): Promise<LeaseOutcome> {
  return withLease(db, lease, (tx, { itemId, agentId }) => [
    tx`
      update inbox_item set lease_hash = null, attempts = attempts - 1, available_at = clock_timestamp()
      where item_id = ${itemId}`,
    announce(tx, agentId),
  ])
}

const backoffSeconds = (attempts: number) =>
  Math.min(MAXIMUM_BACKOFF_SECONDS, FIRST_BACKOFF_SECONDS * 2 ** (attempts - 1))

/** The lease then ends `visibilitySeconds` from now, but not later than the longest lease allows. */
export async function extendLease(
  db: Database,
  lease: LeaseReference,
  visibilitySeconds: number,
): Promise<{ readonly outcome: LeaseOutcome; readonly leaseEndsAt?: string }> {
  let leaseEndsAt: string | undefined
  const extend = async (tx: Transaction, itemId: string) => {
    const [row] = await tx<{ available_at: string }[]>`
      update inbox_item set available_at = least(
        clock_timestamp() + make_interval(secs => ${visibilitySeconds}),
        leased_at + make_interval(secs => ${MAXIMUM_LEASE_SECONDS}))
      where item_id = ${itemId} returning available_at`
    leaseEndsAt = row?.available_at
  }
  const outcome = await withLease(db, lease, (tx, { itemId }) => [extend(tx, itemId)])
  return { outcome, ...(leaseEndsAt !== undefined && { leaseEndsAt }) }
}

export async function listSetAside(
  db: Queries,
  { agentIds, after = '', limit }: { agentIds: readonly string[]; after?: string; limit: number },
): Promise<SetAsideItem[]> {
  const rows = await db<(ItemRow & { failure: string | null; failure_wrapped: Uint8Array | null })[]>`
    select item_id, agent_id, package_id, thread_id, sequence, content_type, received_at, attempts, failure,
      failure_wrapped
    from inbox_item where agent_id = any(${[...agentIds]}) and state = 'set_aside' and item_id > ${after}
    order by item_id limit ${limit}`
  return rows.map((row) => ({ ...toItem(row), failure: row.failure, wrappedFailure: row.failure_wrapped }))
}

/** Items that nobody has settled, in the order of the agent's notifications, and how many there are. */
export async function listWaiting(
  db: Queries,
  agentId: string,
  limit: number,
): Promise<{ readonly items: readonly InboxItem[]; readonly waiting: number }> {
  const rows = await db<(ItemRow & { waiting: number })[]>`
    select item_id, agent_id, package_id, thread_id, sequence, content_type, received_at, attempts,
      (count(*) over ())::integer as waiting
    from inbox_item where agent_id = ${agentId} and state = 'waiting' order by sequence limit ${limit}`
  return { items: rows.map(toItem), waiting: rows[0]?.waiting ?? 0 }
}

/** Settles an item without a lease. False if no such item waits, or a consumer has a lease on it. */
export function finishWaiting(db: Database, agentId: string, itemId: string): Promise<boolean> {
  return db.begin(async (tx) => {
    const [known] = await tx<{ thread_id: string }[]>`
      select thread_id from inbox_item where item_id = ${itemId} and agent_id = ${agentId}`
    if (!known) return false
    await lockThread(tx, agentId, known.thread_id)
    const { count } = await tx`
      update inbox_item set state = 'done', finished_at = clock_timestamp(), lease_hash = null, available_at = null,
        failure_wrapped = null
      where item_id = ${itemId} and state = 'waiting'
        and (lease_hash is null or available_at <= clock_timestamp())`
    if (count > 0) await offerNext(tx, agentId, known.thread_id)
    return count > 0
  })
}

/** It waits again, with no attempt counted. False if there is no such item that was set aside. */
export async function retrySetAside(
  tx: Transaction,
  agentIds: readonly string[],
  itemId: string,
): Promise<boolean> {
  const [known] = await tx<{ agent_id: string; thread_id: string }[]>`
    select agent_id, thread_id from inbox_item
    where item_id = ${itemId} and agent_id = any(${[...agentIds]}) and state = 'set_aside'`
  if (!known) return false
  await lockThread(tx, known.agent_id, known.thread_id)
  const { count } = await tx`
    update inbox_item set state = 'waiting', attempts = 0 where item_id = ${itemId} and state = 'set_aside'`
  await offerNext(tx, known.agent_id, known.thread_id)
  return count > 0
}

/** Deletes items that were done long ago; returns how many. */
export function deleteFinishedItems(db: Queries, signal?: AbortSignal): Promise<number> {
  const step = (rows: number) => db`
    delete from inbox_item where item_id in (
      select item_id from inbox_item
      where state = 'done' and finished_at < now() - make_interval(days => ${FINISHED_ITEM_DAYS})
      limit ${rows})`
  return deleteInSteps(FINISHED_ITEMS_A_STEP, step, signal)
}

const hashOf = (token: string) => createHash('sha256').update(token).digest()

/** Reasons of systems under the master key. */
export const wrappedFailures = wrappedColumn('inbox_item', {
  what: 'reasons of failed items',
  column: 'failure_wrapped',
  key: ['item_id'],
  contextOf: ({ item_id }) => failureContext(item_id),
})
