import type { Database } from '@agent-exchange/database'
import { holdLock } from '@agent-exchange/server/session-lock'
import { numberOf } from './named-locks.ts'

/** Holds the name of a worker until the database is closed: if its lock is free, the worker is gone. */
export function holdWorkerName(
  db: Database,
  worker: string,
  onChange: (isHeld: boolean) => void,
): { isHeld(): boolean } {
  return holdLock(db, numberOf('worker', worker), onChange)
}
