import type { Transaction } from '@agent-exchange/database'
import type { MasterKeys } from '@agent-exchange/server/master-key'
import { lockNames } from '../../kernel/named-locks.ts'
import { PLATFORM_KEYS_LOCK } from '../../platform-keys/webhook-keys.ts'
import { Problem } from '../../kernel/problem.ts'
import { rotateMasterKey } from '../../platform-keys/rotate-master-key.ts'
import { readMasterKeyStatus } from './master-key-status.ts'

/**
 * Replaces the master key of the database by the current one of this process. Refused while a process lacks that key,
 * because the process could no longer read keys, nor start again.
 */
export async function rotate(tx: Transaction, keys: MasterKeys, now: string) {
  // A starting process reports itself before it takes this lock, so none is missed.
  await lockNames(tx, 'key', [PLATFORM_KEYS_LOCK])
  const status = await readMasterKeyStatus(tx, keys)
  const { configured_master_key_id, master_key_id, is_rotated } = status
  if (is_rotated) throw new Problem('invalid_state_transition', { state: 'already_under_this_master_key' })
  const without = status.processes.filter((process) => !process.has_configured_key)
  if (without.length > 0) {
    throw new Problem('invalid_state_transition', {
      state: 'processes_without_the_new_master_key',
      master_key_id: configured_master_key_id,
      processes: without.map(({ process_id }) => process_id).join(', '),
    })
  }
  const private_keys = await rotateMasterKey(tx, keys, now)
  return { master_key_id: configured_master_key_id, former_master_key_id: master_key_id, private_keys }
}
