import type { StatementForm } from '@agent-exchange/crypto'
import type { Transaction } from '@agent-exchange/database'
import type { AuthorizedCall, Call } from '../../kernel/call.ts'

/** This file owns the table package_receipt. */

type ReceiptCall = AuthorizedCall<'createPackageReceipt', StatementForm>

/** A receipt's id is unique within its package. */
export function receiptName({ params, body }: Call<'createPackageReceipt'>): string {
  return `${params.package_id}\0${body.receipt_id}`
}

/** Names of the receipts that already exist. The lock of the thread keeps others from adding any. */
export async function findReceipts(tx: Transaction, calls: readonly ReceiptCall[]): Promise<Set<string>> {
  const rows = await tx<{ package_id: string; receipt_id: string }[]>`
    select package_id, receipt_id from package_receipt
    join unnest(${calls.map(({ call }) => call.params.package_id)}::text[],
                ${calls.map(({ call }) => call.body.receipt_id)}::text[])
      as named (package_id, receipt_id) using (package_id, receipt_id)`
  return new Set(rows.map((row) => `${row.package_id}\0${row.receipt_id}`))
}

/** The quota counts the recipient agent's own receipts apart from those of its colleagues. */
export function receiptGroup(packageId: string, state: string, byRecipient: boolean): string {
  return [packageId, state, byRecipient ? 'recipient' : 'others'].join(' ')
}

/** Receipts of these packages by group. */
export async function countReceipts(
  tx: Transaction,
  packageIds: readonly string[],
): Promise<Map<string, number>> {
  const rows = await tx<{ package_id: string; state: string; by_recipient: boolean; count: number }[]>`
    select package_id, package_receipt.state, actor_agent_id = recipient_agent_id as by_recipient, count(*) as count
    from package join package_receipt using (package_id) where package_id = any(${[...new Set(packageIds)]})
    group by package_id, package_receipt.state, by_recipient`
  return new Map(rows.map((row) => [receiptGroup(row.package_id, row.state, row.by_recipient), row.count]))
}

export async function insertReceipts(tx: Transaction, calls: readonly ReceiptCall[]): Promise<void> {
  const rows = calls.map(({ call: { params, body, text, now }, found }) => ({
    package_id: params.package_id,
    receipt_id: body.receipt_id,
    state: body.state,
    body: text,
    signature_form: found,
    accepted_at: now,
    actor_agent_id: body.actor_agent_id,
    signing_key_id: body.signature.key_id,
  }))
  await tx`
    insert into package_receipt (package_id, receipt_id, state, body, signature_form, accepted_at, actor_agent_id,
      signing_key_id)
    select package_id, receipt_id, state, body, signature_form, accepted_at, actor_agent_id, signing_key_id
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as row (
      package_id text, receipt_id text, state text, body text, signature_form text, accepted_at timestamptz,
      actor_agent_id text, signing_key_id text)`
}
