import { linkSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseFailure } from '../database-errors.ts'
import { processStart } from './processes.ts'

const LOCK_FILE = 'lock'
const MAXIMUM_TRIES = 5

export interface StartLock extends Disposable {
  readonly dataDirectory: string
}

/** One process at a time owns a data folder. The lock of a process that died counts for nothing. */
export function lockDataDirectory(dataDirectory: string): StartLock {
  const lock = join(dataDirectory, LOCK_FILE)
  const own = `${process.pid} ${processStart(process.pid) ?? ''}\n`
  const draft = `${lock}.${process.pid}`
  writeFileSync(draft, own, { mode: 0o600 })
  try {
    for (let tries = 1; tries <= MAXIMUM_TRIES; tries++) {
      if (claim(draft, lock)) {
        return { dataDirectory, [Symbol.dispose]: () => release(lock, own) }
      }
      const held = read(lock)
      const holder = liveHolder(held)
      if (holder !== undefined) throw inUse(dataDirectory, holder)
      removeStale(lock, held)
    }
  } finally {
    rmSync(draft, { force: true })
  }
  throw new DatabaseFailure(`The lock ${lock} could not be taken: other processes are starting. Try again.`)
}

/** Process that owns the data folder now. */
export function lockHolder(dataDirectory: string): number | undefined {
  return liveHolder(read(join(dataDirectory, LOCK_FILE)))
}

/** A link appears whole or not at all, so nobody reads half a lock. */
function claim(draft: string, lock: string): boolean {
  try {
    linkSync(draft, lock)
    return true
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false
    throw error
  }
}

function liveHolder(held: string): number | undefined {
  const [pid = '', started = ''] = held.trim().split(' ')
  return started !== '' && processStart(Number(pid)) === started ? Number(pid) : undefined
}

/** Takes the stale lock away; where another process was quicker, puts that one's back. */
function removeStale(lock: string, judged: string): void {
  const aside = `${lock}.stale.${process.pid}`
  try {
    renameSync(lock, aside)
  } catch {
    return // already taken away
  }
  if (read(aside) !== judged) claim(aside, lock)
  rmSync(aside, { force: true })
}

function release(lock: string, own: string): void {
  if (read(lock) === own) rmSync(lock, { force: true })
}

function read(file: string): string {
  try {
    return readFileSync(file, 'utf8')
  } catch {
    return ''
  }
}

function inUse(dataDirectory: string, pid: number): DatabaseFailure {
  return new DatabaseFailure(
    `The data folder ${dataDirectory} is in use by process ${pid}. ` +
      'Stop that process first, or set AEX_DATA_DIR to another folder.',
  )
}

/** Root's folder lets the server's user through to its own part; what else is in it has mode 0600. */
export function makeDataDirectory(dataDirectory: string): void {
  try {
    mkdirSync(dataDirectory, { recursive: true, mode: process.getuid?.() === 0 ? 0o711 : 0o700 })
  } catch (error) {
    const reason = error instanceof Error ? error.message : ''
    throw new DatabaseFailure(
      `The data folder cannot be made: ${reason}. Set AEX_DATA_DIR to a folder of yours.`,
    )
  }
}
