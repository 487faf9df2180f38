import type { StatementForm } from '@agent-exchange/crypto'
import type { Transaction } from '../../db/database.ts'
import type { AuthorizedCall, Call } from '../../kernel/call.ts'

/** The owner of the table package_receipt. */

type ReceiptCall = AuthorizedCall<'createPackageReceipt', StatementForm>

/** A receipt's id is unique within its package. */
export function receiptName({ params, body }: Call<'createPackageReceipt'>): string {
  return `${params.package_id}\0${body.receipt_id}`
}

/** Those of the receipts that are there already, by name. Nobody adds one while its package's thread is locked. */
export async function findReceipts(tx: Transaction, calls: readonly ReceiptCall[]): Promise<Set<string>> {
  const rows = await tx<{ package_id: string; receipt_id: string }[]>`
    select package_id, receipt_id from package_receipt
    join unnest(${calls.map(({ call }) => call.params.package_id)}::text[],
                ${calls.map(({ call }) => call.body.receipt_id)}::text[])
      as named (package_id, receipt_id) using (package_id, receipt_id)`
  return new Set(rows.map((row) => `${row.package_id}\0${row.receipt_id}`))
}

export async function insertReceipts(tx: Transaction, calls: readonly ReceiptCall[]): Promise<void> {
  const rows = calls.map(({ call: { params, body, text, now }, found }) => ({
    package_id: params.package_id,
    receipt_id: body.receipt_id,
    state: body.state,
    body: text,
    signature_form: found,
    accepted_at: now,
  }))
  await tx`
    insert into package_receipt (package_id, receipt_id, state, body, signature_form, accepted_at)
    select package_id, receipt_id, state, body, signature_form, accepted_at
    from json_to_recordset(${JSON.stringify(rows)}::text::json) as row (
      package_id text, receipt_id text, state text, body text, signature_form text, accepted_at timestamptz)`
}
