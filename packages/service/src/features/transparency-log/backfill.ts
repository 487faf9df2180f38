import { keyLeaf, recordLeaf, type TreeEdge } from '@agent-exchange/log'
import type { Database, Queries, Transaction } from '@agent-exchange/database'
import { insertPlaces, invalidFromOf } from '../../kernel/key-events.ts'
import { toLogBatch } from '../../kernel/log-batch.ts'
import { appendBatches } from './append-to-tree.ts'
import { saveBackfill } from './log-state-store.ts'

const ROWS_PER_STEP = 200

/** Key events come first: the order of leaves proves that a key was registered before it was used. */
type Progress =
  | { readonly phase: 'keys'; readonly position: number }
  | { readonly phase: 'records'; readonly thread: string; readonly position: number }

const START: Progress = { phase: 'keys', position: 0 }

interface Step {
  readonly edge: TreeEdge
  readonly through: string
  readonly isDone: boolean
}

/** Appends the next records or key events from before the log. A crash repeats nothing: each step is a transaction. */
export async function backfillStep(db: Database, edge: TreeEdge, through: string | null): Promise<Step> {
  const progress = through === null ? START : (JSON.parse(through) as Progress)
  return db.begin((tx) =>
    progress.phase === 'keys' ? backfillKeys(tx, edge, progress) : backfillRecords(tx, edge, progress),
  )
}

async function finish(
  tx: Transaction,
  edge: TreeEdge,
  { next, isDone }: { next: Progress; isDone: boolean },
): Promise<Step> {
  const through = JSON.stringify(next)
  await saveBackfill(tx, through, isDone)
  return { edge, through, isDone }
}

interface KeyEventRow {
  readonly event_id: string
  readonly position: number
  readonly agent_id: string
  readonly key_id: string
  readonly kind: string
  readonly recorded_at: string
  readonly details: string
  readonly number: number
  readonly organization_id: string
  readonly use: string
  readonly thumbprint: string
  readonly valid_from: string
}

async function backfillKeys(
  tx: Transaction,
  edge: TreeEdge,
  { position }: { position: number },
): Promise<Step> {
  const rows = await tx<KeyEventRow[]>`
    select event.event_id, event.position, event.agent_id, event.key_id, event.kind, event.recorded_at,
      event.details, organization_id, use, thumbprint, valid_from, (
        select count(*) from agent_key_event as earlier
        where earlier.agent_id = event.agent_id and earlier.position <= event.position) as number
    from agent_key_event as event
    join agent using (agent_id) join agent_key on agent_key.agent_id = event.agent_id and agent_key.key_id = event.key_id
    where event.position > ${position}
      and not exists (select from log_key_event where log_key_event.event_id = event.event_id)
    order by event.position limit ${ROWS_PER_STEP}`
  if (rows.length === 0)
    return finish(tx, edge, { next: { phase: 'records', thread: '', position: 0 }, isDone: false })
  const batch = toLogBatch(rows, (row, salt) =>
    keyLeaf(
      {
        organizationId: row.organization_id,
        agentId: row.agent_id,
        number: row.number,
        keyId: row.key_id,
        kind: row.kind,
        use: row.use,
        thumbprint: row.thumbprint,
        validFrom: row.valid_from,
        recordedAt: row.recorded_at,
        invalidFrom: invalidFromOf(JSON.parse(row.details) as object),
      },
      salt,
    ),
  )
  const next = await appendBatches(tx, edge, [batch])
  await insertPlaces(
    tx,
    rows.map(({ event_id }) => event_id),
    batch.batchId,
  )
  const last = rows.at(-1)?.position ?? position
  return finish(tx, next, { next: { phase: 'keys', position: last }, isDone: false })
}

interface RecordRow {
  readonly thread_id: string
  readonly first_position: number
  readonly last_position: number
  readonly package_id: string
  readonly entries: string
  readonly content_digest: string
  readonly receipt_signature: string
}

async function backfillRecords(
  tx: Transaction,
  edge: TreeEdge,
  { thread, position }: { thread: string; position: number },
): Promise<Step> {
  const rows = await readOldRecords(tx, thread, position)
  const last = rows.at(-1)
  const next: Progress = {
    phase: 'records',
    thread: last?.thread_id ?? thread,
    position: last?.last_position ?? position,
  }
  if (!last) return finish(tx, edge, { next, isDone: true })
  const batch = toLogBatch(rows, (row, salt) =>
    recordLeaf(
      {
        packageId: row.package_id,
        contentDigest: row.content_digest,
        receiptSignature: row.receipt_signature,
        threadId: row.thread_id,
        firstPosition: row.first_position,
        lastPosition: row.last_position,
        ...hashesIn(row.entries),
      },
      salt,
    ),
  )
  const grown = await appendBatches(tx, edge, [batch])
  const places = rows.map(({ thread_id, last_position }, log_offset) => ({
    thread_id,
    last_position,
    log_offset,
  }))
  await tx`
    insert into log_backfilled_record (thread_id, last_position, batch_id, log_offset)
    select thread_id, last_position, ${batch.batchId}, log_offset
    from json_to_recordset(${JSON.stringify(places)}::text::json)
      as record (thread_id text, last_position bigint, log_offset integer)`
  return finish(tx, grown, { next, isDone: false })
}

async function readOldRecords(queries: Queries, thread: string, position: number): Promise<RecordRow[]> {
  return queries.byIndex<RecordRow[]>`
    select record.thread_id, record.first_position, record.last_position, record.package_id, record.entries,
      package.content_digest, coalesce(package.receipt_signature, (
        select body::json #>> '{signature,signature}' from policy_receipt
        where policy_receipt.policy_receipt_id = package.policy_receipt_id)) as receipt_signature
    from (
      select * from audit_record
      where log_batch_id is null and (thread_id, last_position) > (${thread}, ${position}::bigint)
      order by thread_id, last_position limit ${ROWS_PER_STEP}) as record
    join package using (package_id) order by record.thread_id, record.last_position`
}

type StoredEntry =
  | { readonly hash: string; readonly previous_hash: string | null }
  | { readonly hash: string; readonly entry: { readonly proof: { readonly previous_hash: string | null } } }

function hashesIn(entries: string): { previousHash: string | null; entryHashes: string[] } {
  const stored = JSON.parse(entries) as StoredEntry[]
  const [first] = stored
  const previousHash =
    first === undefined ? null : 'entry' in first ? first.entry.proof.previous_hash : first.previous_hash
  return { previousHash, entryHashes: stored.map(({ hash }) => hash) }
}
