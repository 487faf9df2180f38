import type { Database } from '../../db/database.ts'
import { inTransaction } from '../../db/transaction.ts'
import type { WebhookKeys } from '../../kernel/platform-keys-webhook.ts'
import { appendToLog } from '../organizations/operator-log-store.ts'

/** Retires and renews webhook keys in time; a key that nobody asked for stands in the log as well. */
export async function maintainKeys(
  db: Database,
  webhookKeys: Pick<WebhookKeys, 'maintain' | 'list'>,
  now: string,
): Promise<{ retired: number; renewed: boolean }> {
  return inTransaction(db, async (tx) => {
    const done = await webhookKeys.maintain(tx, now)
    if (!done.renewed) return done
    const [made] = await webhookKeys.list(tx)
    const { key_id: target = '', valid_from } = made ?? {}
    const reason = 'the one in use ends soon'
    await appendToLog(tx, {
      actor: 'service',
      action: 'keys.renew',
      target,
      reason,
      details: { valid_from },
      now,
    })
    return done
  })
}
