import type { Transaction } from '@agent-exchange/database'
import { insertItem, type NewItem } from './inbox-items.ts'

/**
 * Called in the transaction that marks the event of a package as processed. The item waits for a system until that
 * transaction commits; requests that wait for items are woken then.
 */
export function addInboxItem(tx: Transaction, item: NewItem): Promise<void> {
  return insertItem(tx, item)
}
