import type { PolicyReceipt, PolicyReceiptResource } from '@agent-exchange/protocol'
import type { Queries, Transaction } from '@agent-exchange/database'

/** The owner of the table policy_receipt. */
export interface PolicyReceiptRow {
  readonly policy_receipt_id: string
  readonly package_id: string
  readonly thread_id: string
  readonly sender_org_id: string
  readonly recipient_org_id: string
  /** The receipt exactly as received. */
  readonly body: string
  readonly accepted_at: string
  readonly eligible: boolean
  readonly audit_event_id: string
  /** Audit entries in the format of `toLines`; the package links them into the thread's chain. */
  readonly audit_entries: string
  readonly signing_key_id: string
}

/** Returns the ids of the inserted receipts. An existing receipt is never changed. */
export async function insertPolicyReceipts(
  tx: Transaction,
  rows: readonly PolicyReceiptRow[],
): Promise<Set<string>> {
  if (rows.length === 0) return new Set()
  const inserted = await tx<{ policy_receipt_id: string }[]>`
    insert into policy_receipt (policy_receipt_id, package_id, thread_id, sender_org_id, recipient_org_id, body,
      accepted_at, eligible, audit_event_id, audit_entries, signing_key_id)
    select policy_receipt_id, package_id, thread_id, sender_org_id, recipient_org_id, body, accepted_at, eligible,
      audit_event_id, audit_entries, signing_key_id
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as row (
      policy_receipt_id text, package_id text, thread_id text, sender_org_id text, recipient_org_id text, body text,
      accepted_at timestamptz, eligible boolean, audit_event_id text, audit_entries text, signing_key_id text)
    on conflict do nothing returning policy_receipt_id`
  return new Set(inserted.map((row) => row.policy_receipt_id))
}

/** Deletes the bodies of receipts that no package refers to. @returns the sender of each */
export async function emptyUnusedReceipts(tx: Transaction, ids: readonly string[]): Promise<string[]> {
  const emptied = await tx<{ sender_org_id: string }[]>`
    update policy_receipt as receipt set body = null
    where policy_receipt_id = any(${[...ids]}) and body is not null
      and not exists (
        select from package where package.package_id = receipt.package_id
          and package.policy_receipt_id = receipt.policy_receipt_id offset 0)
    returning sender_org_id`
  return emptied.map(({ sender_org_id }) => sender_org_id)
}

/** Leaves out receipts whose body was deleted by retention. */
export async function loadPolicyReceipts(
  queries: Queries,
  ids: readonly string[],
): Promise<Map<string, PolicyReceiptRow>> {
  const rows = await queries<PolicyReceiptRow[]>`
    select * from policy_receipt where policy_receipt_id = any(${[...ids]}) and body is not null`
  return new Map(rows.map((row) => [row.policy_receipt_id, row]))
}

/**
 * POL-05: readable by the sender's organization, and by the recipient's once the package (POL-04) refers to it.
 * `offset 0` is an optimization fence: it makes the planner look up that one package.
 */
export async function findReadableBy(
  queries: Queries,
  id: string,
  organizationId: string,
): Promise<PolicyReceiptRow | undefined> {
  const [row] = await queries<PolicyReceiptRow[]>`
    select * from policy_receipt as receipt where policy_receipt_id = ${id} and body is not null and (
      sender_org_id = ${organizationId}
      or recipient_org_id = ${organizationId}
        and exists (select from package where package.package_id = receipt.package_id
          and package.policy_receipt_id = receipt.policy_receipt_id offset 0))`
  return row
}

/** Receipts that one query scans, used or not. */
const MAXIMUM_SCANNED = 1_000

interface UnusedQuery {
  readonly threadId: string
  readonly organizationId: string
  /** The first receipt of the page. */
  readonly from: { readonly acceptedAt: string; readonly auditEventId: string }
  readonly limit: number
}

type UnusedReceipt = Pick<PolicyReceiptRow, 'accepted_at' | 'audit_event_id' | 'audit_entries'>

/**
 * AUD-02: a sender's receipts for a thread that no package refers to, in order of acceptance. `scannedUntil` is the last
 * scanned receipt, if there may be more.
 */
export async function findUnusedReceipts(
  queries: Queries,
  { threadId, organizationId, from, limit }: UnusedQuery,
): Promise<{ receipts: UnusedReceipt[]; scannedUntil: UnusedReceipt | undefined }> {
  const rows = await queries.byIndex<(UnusedReceipt & { is_end: boolean })[]>`
    with scanned as materialized (
      select policy_receipt_id, package_id, accepted_at, audit_event_id from policy_receipt
      where thread_id = ${threadId} and sender_org_id = ${organizationId}
        and (accepted_at, audit_event_id) >= (${from.acceptedAt}::timestamptz, ${from.auditEventId})
      order by accepted_at, audit_event_id limit ${MAXIMUM_SCANNED})
    (select accepted_at, audit_event_id, false as is_end, (
        select audit_entries from policy_receipt where policy_receipt.policy_receipt_id = scanned.policy_receipt_id)
      from scanned where not exists (
        select from package where package.package_id = scanned.package_id
          and package.policy_receipt_id = scanned.policy_receipt_id offset 0)
      order by accepted_at, audit_event_id limit ${limit})
    union all
    (select accepted_at, audit_event_id, true, '' from scanned
      order by accepted_at, audit_event_id offset ${MAXIMUM_SCANNED - 1} limit 1)`
  return {
    receipts: rows.filter(({ is_end }) => !is_end),
    scannedUntil: rows.find(({ is_end }) => is_end),
  }
}

export function toPolicyReceiptResource(row: PolicyReceiptRow): PolicyReceiptResource {
  return {
    receipt: JSON.parse(row.body) as PolicyReceipt,
    accepted_at: row.accepted_at,
    signature_status: 'verified',
    package_authorization: row.eligible ? 'eligible' : 'ineligible',
    audit_event_id: row.audit_event_id,
  }
}
