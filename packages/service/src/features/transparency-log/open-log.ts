import type { Database } from '@agent-exchange/database'
import type { Context } from '../../kernel/context.ts'
import type { PlatformKeys } from '../../platform-keys/platform-keys.ts'
import { ensureLogState } from './log-state-store.ts'
import { openLogKeys, type LogKeys } from './log-key.ts'

/** The log's own identity: its origin and its keys. */
export async function openLog(
  db: Database,
  { profile, publicUrl, clock }: Pick<Context, 'profile' | 'publicUrl' | 'clock'>,
  keys: Pick<PlatformKeys, 'openLogKey'>,
): Promise<LogKeys> {
  await ensureLogState(db, profile['O-07'].transparency_origin ?? `${new URL(publicUrl).host}/log`)
  return openLogKeys(db, keys, clock)
}
