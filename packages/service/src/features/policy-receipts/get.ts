import type { Read } from '../../kernel/call.ts'
import { Problem } from '../../kernel/problem.ts'
import { findReadableBy, toPolicyReceiptResource } from './store.ts'

/** POL-05. A receipt of another organization gets the same problem as an unknown one. */
export const getPolicyReceipt: Read<'getPolicyReceipt'> = async ({ caller, params }, db) => {
  const row = await findReadableBy(db, params.policy_receipt_id, caller.organizationId)
  if (!row) throw new Problem('resource_not_found')
  return toPolicyReceiptResource(row)
}
