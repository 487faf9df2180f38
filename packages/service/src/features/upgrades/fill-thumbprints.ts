import { jwkThumbprint, type PublicJwk } from '@agent-exchange/crypto'
import type { Database, Transaction } from '@agent-exchange/database'
import { lockWithoutThumbprint, setThumbprints } from '../organizations/client-store.ts'

const STEP_ROWS = 500
const MAXIMUM_STEPS = 1_000

/**
 * Backfill of migration 0010. Each step is a transaction of its own, and processes share the work: rows that another
 * process has locked are skipped. Returns the number of filled rows.
 */
export async function fillThumbprints(db: Database, signal?: AbortSignal): Promise<number> {
  let filled = 0
  for (let step = 0; step < MAXIMUM_STEPS && !signal?.aborted; step++) {
    const rows = await db.begin(fillStep)
    filled += rows
    if (rows < STEP_ROWS) break
  }
  return filled
}

async function fillStep(tx: Transaction): Promise<number> {
  const clients = await lockWithoutThumbprint(tx, STEP_ROWS)
  const thumbprints = await Promise.all(
    clients.map(({ public_jwk }) => jwkThumbprint(JSON.parse(public_jwk) as PublicJwk)),
  )
  await setThumbprints(
    tx,
    clients.map(({ client_id }, index) => [client_id, thumbprints[index] ?? '']),
  )
  return clients.length
}
