import { randomBytes } from 'node:crypto'
import { EMPTY_EDGE, LEAF_LENGTH, type TreeEdge } from '@agent-exchange/log'
import type { Database } from '@agent-exchange/database'
import { migrate } from '@agent-exchange/database/migrations'
import { appendPending } from '../../../packages/service/src/features/transparency-log/append-to-tree.ts'
import { latestPublished } from '../../../packages/service/src/features/transparency-log/checkpoint-store.ts'
import { ensureLogState } from '../../../packages/service/src/features/transparency-log/log-state-store.ts'
import { proveLeaf } from '../../../packages/service/src/features/transparency-log/prove-leaf.ts'
import { cachedTiles } from '../../../packages/service/src/features/transparency-log/tile-store.ts'
import { open, type PostgresServer } from '../exchange/postgres-server.ts'
import { readServiceMigrations } from '@agent-exchange/service/migrations'

/** What a transaction of the service queues under load. */
const LEAVES_PER_BATCH = 20
const CONNECTIONS = 10

/** A log of random leaves in a database with fsync. */
export async function openLogDatabase(postgres: PostgresServer): Promise<Database & AsyncDisposable> {
  const db = open(await postgres.create('bench_log'), CONNECTIONS)
  await migrate(db, readServiceMigrations())
  await ensureLogState(db, 'bench.example/log')
  return db
}

export async function queueLeaves(db: Database, leaves: number): Promise<void> {
  for (let queued = 0; queued < leaves; queued += LEAVES_PER_BATCH)
    await db`
      insert into log_pending (batch_id, secret, leaves)
      values (${randomBytes(16)}, ${randomBytes(32)}, ${randomBytes(LEAVES_PER_BATCH * LEAF_LENGTH)})`
}

/** Appends everything that waits, as the sequencer does. */
export async function sequenceAll(db: Database, before: TreeEdge = EMPTY_EDGE): Promise<TreeEdge> {
  let edge = before
  for (;;) {
    const next = await appendPending(db, edge)
    if (next === edge) return edge
    edge = next
  }
}

/** Proves random leaves of the published tree. */
export async function leafProver(db: Database): Promise<() => Promise<unknown>> {
  const checkpoint = await latestPublished(db)
  if (!checkpoint) throw new Error('nothing was published')
  const tiles = cachedTiles(db)
  const index = () => Math.floor(Math.random() * checkpoint.size)
  return () => tiles.use((readTile) => proveLeaf(index(), checkpoint, readTile))
}
