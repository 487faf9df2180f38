import type { Database } from '@agent-exchange/database'
import { latestPublished } from './checkpoint-store.ts'
import { DamagedLog, type Damage } from './damage.ts'
import { clearDamage } from './log-state-store.ts'
import { proveLeaf } from './prove-leaf.ts'
import { proveContinuation } from './read-consistency.ts'
import { tileReader } from './tile-store.ts'

/** Tries the failed proof again: an operator may have restored the tiles. True while they are damaged. */
export async function isStillDamaged(db: Database, damage: Damage): Promise<boolean> {
  const checkpoint = await latestPublished(db)
  if (!checkpoint) return true
  const readTile = tileReader(db)
  try {
    if ('leaf' in damage) await proveLeaf(damage.leaf, checkpoint, readTile)
    else await proveContinuation(damage.from, checkpoint, readTile)
  } catch (error) {
    if (error instanceof DamagedLog) return true
    throw error
  }
  await clearDamage(db)
  return false
}
