import { readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseFailure } from '../database-errors.ts'
import { processesIn, signal } from './processes.ts'
import { waitUntil } from './wait-until.ts'

const FAST_LIMIT_MS = 30_000
const IMMEDIATE_LIMIT_MS = 10_000
const KILL_LIMIT_MS = 5_000

/** What a server says of itself in its data folder. */
export interface ServerFile {
  readonly pid: number
  readonly port: number
  readonly socketDirectory: string
  readonly isReady: boolean
}

/** Line by line as PostgreSQL writes it (miscadmin.h, LOCK_FILE_LINE_*). */
export function readServerFile(cluster: string): ServerFile {
  let lines: string[] = []
  try {
    lines = readFileSync(join(cluster, 'postmaster.pid'), 'utf8').split('\n')
  } catch {
    // no server
  }
  const [pid, , , port, socketDirectory = '', , , state = ''] = lines
  return {
    pid: Number(pid ?? 0),
    port: Number(port ?? 0),
    socketDirectory,
    isReady: state.trim() === 'ready',
  }
}

/**
 * Stops what still runs in the data folder: fast first (sessions end, a checkpoint is written), then at once
 * (the next start recovers), then by force. Afterwards nothing of it runs and no stale pid file is left.
 */
export async function stopServer(cluster: string): Promise<void> {
  const { pid } = readServerFile(cluster)
  const steps: [NodeJS.Signals, number][] = [
    ['SIGINT', FAST_LIMIT_MS],
    ['SIGQUIT', IMMEDIATE_LIMIT_MS],
  ]
  const isEmpty = () => processesIn(cluster).length === 0
  for (const [name, limit] of steps) {
    if (!processesIn(cluster).includes(pid)) break
    signal(pid, name)
    await waitUntil(isEmpty, limit)
  }
  // Sessions whose server was killed end by themselves within moments.
  if (!(await waitUntil(isEmpty, KILL_LIMIT_MS))) {
    for (const each of processesIn(cluster)) signal(each, 'SIGKILL')
  }
  if (!(await waitUntil(isEmpty, KILL_LIMIT_MS))) {
    throw new DatabaseFailure(
      `Processes ${processesIn(cluster).join(', ')} still use ${cluster}. End them first.`,
    )
  }
  // Its number may belong to another process by now, which would keep PostgreSQL from starting.
  rmSync(join(cluster, 'postmaster.pid'), { force: true })
}
