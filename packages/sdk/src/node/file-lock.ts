import { closeSync, openSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { ExchangeError } from '../errors.ts'
import { pause } from '../pause-and-backoff.ts'

const LOCK_WAIT_MS = 10_000
const LOCK_POLL_MS = 15
const SQLITE_BUSY = 5
const OWNER_ONLY = 0o600

/**
 * Runs alone among all processes that lock the same file. The lock is one of the operating system, taken through
 * an empty SQLite database: it ends with its holder, so a crash leaves nothing to clean up.
 */
export async function withFileLock<T>(
  lockFile: string,
  work: () => Promise<T>,
  { waitMs = LOCK_WAIT_MS }: { readonly waitMs?: number } = {},
): Promise<T> {
  const database = await acquire(lockFile, waitMs)
  try {
    return await work()
  } finally {
    database.close()
  }
}

async function acquire(lockFile: string, waitMs: number): Promise<DatabaseSync> {
  for (let waited = 0; ; waited += LOCK_POLL_MS) {
    const database = tryFileLock(lockFile)
    if (database) return database
    if (waited >= waitMs) {
      const what = `Another process has held ${lockFile} for too long.`
      throw new ExchangeError('timed_out', { what, retryable: true, details: { lockFile, waitMs } })
    }
    await pause(LOCK_POLL_MS)
  }
}

/**
 * Takes the lock if nobody has it. Closing the database gives it back. Any number of processes may share it; then nobody
 * has it alone.
 */
export function tryFileLock(lockFile: string, mode: 'alone' | 'shared' = 'alone'): DatabaseSync | undefined {
  makeOnce(lockFile)
  const database = new DatabaseSync(lockFile, { timeout: 0 })
  try {
    // A read transaction holds a shared lock from its first read to its end.
    database.exec(mode === 'alone' ? 'begin exclusive' : 'begin; select count(*) from sqlite_schema')
    return database
  } catch (error) {
    database.close()
    if (error instanceof Error && Reflect.get(error, 'errcode') === SQLITE_BUSY) return undefined
    throw error
  }
}

/** Never opens a file that exists: closing a descriptor of it ends the POSIX locks of the process on it. */
function makeOnce(file: string): void {
  try {
    closeSync(openSync(file, 'wx', OWNER_ONLY))
  } catch (error) {
    if (!(error instanceof Error) || Reflect.get(error, 'code') !== 'EEXIST') throw error
  }
}
