import type { NoteSigner } from '@agent-exchange/log'
import type { Database } from '../../db/database.ts'
import type { Context } from '../../kernel/context.ts'
import { ensureLogState } from './log-state-store.ts'
import { openLogKey } from './log-key.ts'

/** The log's own identity: its origin and its key. */
export async function openLog(
  db: Database,
  { profile, publicUrl, newId, clock }: Pick<Context, 'profile' | 'publicUrl' | 'newId' | 'clock'>,
  masterKey: Uint8Array,
): Promise<NoteSigner> {
  const wanted = profile['O-07'].transparency_origin ?? `${new URL(publicUrl).host}/log`
  const { origin } = await ensureLogState(db, wanted)
  return openLogKey({ db, masterKey, origin, newId, now: clock.now() })
}
