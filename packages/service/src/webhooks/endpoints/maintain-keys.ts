import { type Database, inTransaction } from '@agent-exchange/database'
import type { WebhookKeys } from '../../platform-keys/webhook-keys.ts'
import { appendToLog } from '../../features/operators/operator-log-store.ts'

/** Retires and renews webhook keys in time; a key that nobody asked for has an entry in the log as well. */
export async function maintainKeys(
  db: Database,
  webhookKeys: Pick<WebhookKeys, 'maintain' | 'list'>,
  now: string,
): Promise<{ retired: number; renewed: string | undefined }> {
  return inTransaction(db, async (tx) => {
    const done = await webhookKeys.maintain(tx, now)
    if (done.renewed === undefined) return done
    const made = (await webhookKeys.list(tx)).find(({ key_id }) => key_id === done.renewed)
    await appendToLog(tx, {
      actor: 'service',
      action: 'keys.renew',
      target: done.renewed,
      reason: 'the one in use ends soon',
      details: { valid_from: made?.valid_from },
      now,
    })
    return done
  })
}
