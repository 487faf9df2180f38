import type { Queries } from '@agent-exchange/database'
import { fingerprint, type MasterKeys } from '@agent-exchange/server/master-key'
import { wrappingKeyId } from '../../platform-keys/platform-secrets.ts'
import { listProcesses } from '../overview/process-store.ts'

/** Which master key the database needs, and which ones the processes have; by fingerprint. */
export async function readMasterKeyStatus(queries: Queries, keys: MasterKeys) {
  const [wrappedBy, processes] = await Promise.all([wrappingKeyId(queries), listProcesses(queries)])
  const configured = fingerprint(keys.current)
  return {
    master_key_id: wrappedBy ?? null,
    configured_master_key_id: configured,
    is_rotated: wrappedBy === configured,
    processes: processes.map(({ process_id, role, seen_at, master_key_ids }) => ({
      process_id,
      role,
      seen_at,
      master_key_ids: master_key_ids ?? [],
      has_configured_key: master_key_ids?.includes(configured) ?? false,
    })),
  }
}
