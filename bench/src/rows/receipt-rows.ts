import type { PackageMetadata } from '@agent-exchange/protocol'
import type { Database } from '@agent-exchange/database'
import { freshId } from '../samples/package-parts.ts'

/** A policy receipt that was created through the API, with its row and its package. */
export interface ReceiptTemplate {
  /** The row as JSON text. */
  readonly row: string
  readonly metadata: PackageMetadata
}

const MEMBERS = [
  'package_id',
  'thread_id',
  'sender_org_id',
  'sender_agent_id',
  'recipient_org_id',
  'recipient_agent_id',
  'content_digest',
  'policy_receipt_id',
] as const satisfies (keyof PackageMetadata)[]
const AUDIT_ID = /audit_[0-9a-f]{32}/g
const ROWS_AT_ONCE = 500

/**
 * Inserts policy receipts directly: copies of the row of a real receipt with the ids of other packages. The measurement
 * starts afterwards.
 */
export async function insertReceipts(
  db: Database,
  template: ReceiptTemplate,
  packages: readonly PackageMetadata[],
): Promise<void> {
  for (let from = 0; from < packages.length; from += ROWS_AT_ONCE) {
    const rows = packages.slice(from, from + ROWS_AT_ONCE).map((metadata) => renamed(template, metadata))
    await db`
      insert into policy_receipt
      select filled.* from json_array_elements(${`[${rows.join()}]`}::text::json) as row,
        json_populate_record(null::policy_receipt, row) as filled`
  }
}

function renamed({ row, metadata: former }: ReceiptTemplate, metadata: PackageMetadata): string {
  let text = row
  for (const member of MEMBERS) text = text.replaceAll(former[member], metadata[member])
  const ids = new Map<string, string>()
  return text.replaceAll(AUDIT_ID, (id) => {
    const next = ids.get(id) ?? freshId('audit')
    ids.set(id, next)
    return next
  })
}
