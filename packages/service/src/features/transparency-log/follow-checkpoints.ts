import type { Database } from '@agent-exchange/database'
import { compareWithFile } from './check-continuation.ts'
import type { CheckpointFile } from './checkpoint-file.ts'
import { latestSigned } from './checkpoint-store.ts'
import { readLogState } from './log-state-store.ts'
import { tileReader } from './tile-store.ts'

/**
 * Remembers what another machine signed, while this one waits to take over: if the database then loses its tail in a
 * failover, this machine notices too. A database that contradicts the file is not remembered.
 */
export async function followCheckpoints(db: Database, file: CheckpointFile): Promise<void> {
  const state = await readLogState(db)
  const [signed, remembered] = [await latestSigned(db, state.origin), await file.read(state.origin)]
  if (!signed || remembered === 'ended' || signed.size <= (remembered?.size ?? -1)) return
  if (remembered && (await compareWithFile(state, remembered, tileReader(db)))) return
  await file.write(signed)
}
