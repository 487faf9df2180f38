import { deferToCommit, type Database, type Queries, type Transaction } from '@agent-exchange/database'
import { ExchangeError } from '@agent-exchange/sdk'
import {
  draftRecord,
  draftSent,
  draftUnreadable,
  isDraftId,
  MAXIMUM_OPEN_DRAFTS,
  MAXIMUM_SENT_DRAFTS,
  newDraftRecord,
  sentDraftRecord,
  type DraftRecord,
  type DraftStore,
  type SentDraftRecord,
} from '@agent-exchange/sdk/internal'
import { lockPart } from './agent-lock.ts'
import { deleteInSteps } from './delete-in-steps.ts'
import type { SecretBox } from './secret-box.ts'
import { wrappedColumn } from './wrapped-rows.ts'

interface DraftRow {
  readonly draft_id: string
  readonly sent_at: string | null
  readonly wrapped_key: Uint8Array
  readonly sealed: Uint8Array
}

/** What shares a transaction with a change of a draft. */
export interface DraftHooks {
  /** Of a draft that was there already too: the same content is the same draft. */
  readonly onAdded?: (tx: Transaction, draftId: string) => Promise<void>
  /** Takes the content from a sent draft. */
  readonly onSent?: (tx: Transaction, content: DraftRecord['content']) => Promise<void>
}

/** The drafts of one agent, each encrypted by a data key of its own. Owner of the table agent_draft. */
export function openPostgresDraftStore(
  db: Database,
  agentId: string,
  box: SecretBox,
  { onAdded, onSent }: DraftHooks = {},
): DraftStore {
  const seal = (draftId: string, record: DraftRecord | SentDraftRecord) =>
    box.seal(contextOf(agentId, draftId), Buffer.from(JSON.stringify(record)))

  const locked = <T>(work: (tx: Transaction) => Promise<T>) =>
    db.begin((tx) => {
      deferToCommit(tx, lockPart(tx, 'drafts', agentId))
      return work(tx)
    })

  async function findRow(queries: Queries, draftId: string): Promise<DraftRow | undefined> {
    if (!isDraftId(draftId)) throw new ExchangeError('draft_missing')
    const [row] = await queries<DraftRow[]>`
      select draft_id, sent_at, wrapped_key, sealed from agent_draft
      where agent_id = ${agentId} and draft_id = ${draftId}`
    return row
  }

  function opened(row: DraftRow): DraftRecord | SentDraftRecord {
    const { draft_id, wrapped_key: wrappedKey, sealed } = row
    const text = Buffer.from(box.open(contextOf(agentId, draft_id), { wrappedKey, sealed })).toString()
    const record: unknown = JSON.parse(text)
    const shape = row.sent_at === null ? draftRecord : sentDraftRecord
    if (shape.accepts(record) && record.draft_id === draft_id) return record
    throw draftUnreadable(draft_id)
  }

  async function read(queries: Queries, draftId: string): Promise<DraftRecord> {
    const row = await findRow(queries, draftId)
    if (!row) throw new ExchangeError('draft_missing', { details: { draftId } })
    const record = opened(row)
    if ('sent_at' in record) throw draftSent(record)
    return record
  }

  return {
    async ids() {
      const rows = await db<DraftRow[]>`
        select draft_id from agent_draft where agent_id = ${agentId} and sent_at is null
        order by created_at limit ${MAXIMUM_OPEN_DRAFTS}`
      return rows.map(({ draft_id }) => draft_id)
    },
    read: (draftId) => read(db, draftId),
    add: (draft) =>
      locked(async (tx) => {
        const [row, open] = await Promise.all([findRow(tx, draft.draft_id), countOpen(tx, agentId)])
        if (row) {
          const known = await read(tx, draft.draft_id)
          await onAdded?.(tx, draft.draft_id)
          return known
        }
        if (open >= MAXIMUM_OPEN_DRAFTS)
          throw new ExchangeError('draft_limit', { details: { open, maximum: MAXIMUM_OPEN_DRAFTS } })
        const record = newDraftRecord(draft)
        const { wrappedKey, sealed } = seal(draft.draft_id, record)
        const inserted = tx`
          insert into agent_draft (agent_id, draft_id, created_at, wrapped_key, sealed)
          values (${agentId}, ${draft.draft_id}, ${draft.created_at}, ${wrappedKey}, ${sealed})`
        deferToCommit(tx, inserted)
        await onAdded?.(tx, draft.draft_id)
        return record
      }),
    decide: (draftId, decide) =>
      locked(async (tx) => {
        const before = await read(tx, draftId)
        const decision = await decide(before)
        if (!decision) return before
        const after = { ...before, decision }
        const { wrappedKey, sealed } = seal(draftId, after)
        await tx`
          update agent_draft set wrapped_key = ${wrappedKey}, sealed = ${sealed}
          where agent_id = ${agentId} and draft_id = ${draftId}`
        return after
      }),
    close: (draftId, sent) =>
      locked(async (tx) => {
        const row = await findRow(tx, draftId)
        const record = row && opened(row)
        if (!record || 'sent_at' in record) return
        const { content, ...kept } = record
        // A new data key: the one that encrypted the content is gone with it.
        const { wrappedKey, sealed } = seal(draftId, { ...kept, ...sent })
        const closed = tx`
          update agent_draft set sent_at = ${sent.sent_at}, wrapped_key = ${wrappedKey}, sealed = ${sealed}
          where agent_id = ${agentId} and draft_id = ${draftId}`
        deferToCommit(tx, closed, ...(onSent ? [onSent(tx, content)] : []))
      }),
    remove: (draftId) =>
      locked(async (tx) => {
        const row = await findRow(tx, draftId)
        if (!row || row.sent_at !== null) await read(tx, draftId)
        await tx`
          delete from agent_draft where agent_id = ${agentId} and draft_id = ${draftId} and sent_at is null`
      }),
    async findSent(draftId) {
      const row = await findRow(db, draftId)
      const record = row && row.sent_at !== null ? opened(row) : undefined
      return record && 'sent_at' in record ? record : undefined
    },
    async sent(limit) {
      const rows = await db<DraftRow[]>`
        select draft_id, sent_at, wrapped_key, sealed from agent_draft
        where agent_id = ${agentId} and sent_at is not null order by sent_at desc limit ${limit}`
      return rows.map(opened).filter((record) => 'sent_at' in record)
    },
  }
}

async function countOpen(tx: Transaction, agentId: string): Promise<number> {
  const [row] = await tx<{ count: number }[]>`
    select count(*)::integer as count from agent_draft where agent_id = ${agentId} and sent_at is null`
  return row?.count ?? 0
}

/** Drafts of an agent that moves in, with their decisions. */
export async function insertDrafts(
  tx: Transaction,
  agentId: string,
  box: SecretBox,
  drafts: readonly (DraftRecord | SentDraftRecord)[],
): Promise<void> {
  for (const draft of drafts) {
    const { draft_id, created_at } = draft
    const sentAt = 'sent_at' in draft ? draft.sent_at : null
    const { wrappedKey, sealed } = box.seal(contextOf(agentId, draft_id), Buffer.from(JSON.stringify(draft)))
    await tx`
      insert into agent_draft (agent_id, draft_id, created_at, sent_at, wrapped_key, sealed)
      values (${agentId}, ${draft_id}, ${created_at}, ${sentAt}, ${wrappedKey}, ${sealed})`
  }
}

const contextOf = (agentId: string, draftId: string) => `draft/${agentId}/${draftId}`

/** Deletes open drafts with their data keys. The caller holds the lock of the drafts of the agent. */
export async function deleteDrafts(
  tx: Transaction,
  agentId: string,
  draftIds: readonly string[],
): Promise<void> {
  await tx`
    delete from agent_draft
    where agent_id = ${agentId} and draft_id = any(${[...draftIds]}) and sent_at is null`
}

/** Rows that one statement deletes. */
const DELETED_A_STEP = 1_000

/** Of the drafts that an agent has sent, the newest are kept. */
export function deleteOldSentDrafts(
  db: Database,
  signal?: AbortSignal,
  kept = MAXIMUM_SENT_DRAFTS,
): Promise<number> {
  const step = (rows: number) => db`
    delete from agent_draft where (agent_id, draft_id) in (
      select agent_id, draft_id from gateway_agent cross join lateral (
        select draft_id from agent_draft
        where agent_draft.agent_id = gateway_agent.agent_id and sent_at is not null
        order by sent_at desc offset ${kept}) as old
      limit ${rows})`
  return deleteInSteps(DELETED_A_STEP, step, signal)
}

/** Drafts under the master key. */
export const wrappedDrafts = wrappedColumn('agent_draft', {
  what: 'drafts',
  column: 'wrapped_key',
  key: ['agent_id', 'draft_id'],
  contextOf: ({ agent_id, draft_id }) => contextOf(agent_id, draft_id),
})

/** Changes whenever an open draft of the agent is added, decided about or closed. Nothing is decrypted. */
export async function draftsVersion(db: Queries, agentId: string): Promise<string> {
  const [row] = await db<{ version: string | null }[]>`
    select md5(string_agg(draft_id || md5(sealed), ',' order by draft_id)) as version
    from agent_draft where agent_id = ${agentId} and sent_at is null`
  return row?.version ?? ''
}
