import { spawn, type ChildProcess } from 'node:child_process'
import { readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout as sleep } from 'node:timers/promises'
import { DatabaseFailure } from '../database-errors.ts'
import { readServerFile, stopServer } from './leftover-server.ts'
import type { Place } from './place.ts'
import type { Runtime } from './runtime.ts'
import { waitUntil } from './wait-until.ts'

/** Recovery after a crash replays at most what max_wal_size lets grow; a slow disk gets its time. */
const READY_LIMIT_MS = 600_000
const SLOW_START_MS = 5_000
const REMEMBERED_LINES = 20
const MAXIMUM_RESTARTS = 5
const FIRST_PAUSE_MS = 100
const STABLE_AFTER_MS = 60_000
const WORTH_SAYING = /\b(?:WARNING|FATAL|PANIC):/u

export interface ServerProcess {
  readonly pid: () => number
  /** Resolves when the server died and could not be brought back. */
  readonly failed: Promise<DatabaseFailure>
  readonly stop: () => Promise<void>
}

interface Launch {
  readonly place: Place
  readonly runtime: Runtime
  readonly socketDirectory: string
  readonly settings: Readonly<Record<string, string>>
  readonly log: (line: string) => void
}

/** Starts the server as our child and keeps it running: where it dies, it is started again, a few times. */
export async function runServer(launch: Launch): Promise<ServerProcess> {
  const { log, place } = launch
  let child = await startOnce(launch)
  let isStopping = false
  let restarts = 0
  const { promise: failed, resolve: giveUp } = Promise.withResolvers<DatabaseFailure>()
  // Last resort where the process ends without `stop`: the server writes its checkpoint and goes.
  const onExit = () => void child.kill('SIGINT')
  process.once('exit', onExit)

  const watch = (watched: ChildProcess) => {
    const stable = setTimeout(() => (restarts = 0), STABLE_AFTER_MS).unref()
    watched.once('exit', () => {
      clearTimeout(stable)
      if (!isStopping) void restart()
    })
  }
  const restart = async () => {
    try {
      if (++restarts > MAXIMUM_RESTARTS)
        throw new DatabaseFailure('PostgreSQL keeps dying; see the lines above.')
      log('PostgreSQL died; starting it again')
      await sleep(FIRST_PAUSE_MS * 2 ** restarts)
      await stopServer(place.cluster)
      if (isStopping) return
      child = await startOnce(launch)
      watch(child)
      if (isStopping) await stopServer(place.cluster)
    } catch (error) {
      giveUp(error instanceof DatabaseFailure ? error : new DatabaseFailure(String(error)))
    }
  }
  watch(child)
  return {
    pid: () => child.pid ?? 0,
    failed,
    stop: async () => {
      isStopping = true
      await stopServer(place.cluster)
      process.removeListener('exit', onExit)
    },
  }
}

async function startOnce({ place, runtime, socketDirectory, settings, log }: Launch): Promise<ChildProcess> {
  const options = Object.entries(settings).flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const args = ['-D', place.cluster, '-k', socketDirectory, ...options]
  // A killed server's lock file stays, and counts while its process is a zombie that nobody collects.
  for (const name of readdirSync(socketDirectory)) rmSync(join(socketDirectory, name), { force: true })
  const child = spawn(join(runtime.bin, 'postgres'), args, {
    ...place.user,
    cwd: '/',
    env: { LC_ALL: 'C', TZ: 'UTC' },
    stdio: ['ignore', 'ignore', 'pipe'],
    // A session of its own: Ctrl-C in a terminal reaches us alone, and we stop it when we have drained.
    detached: true,
  })
  let spawnError = ''
  child.once('error', (error) => (spawnError = error.message))
  const lines = remember(child, log)
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null || spawnError !== ''
  const isReady = () => {
    const server = readServerFile(place.cluster)
    return server.pid === child.pid && server.isReady
  }
  const slow = setTimeout(() => log('PostgreSQL is recovering from a crash; waiting for it'), SLOW_START_MS)
  await waitUntil(() => hasEnded() || isReady(), READY_LIMIT_MS)
  clearTimeout(slow)
  if (hasEnded() || !isReady()) {
    child.kill('SIGQUIT')
    throw new DatabaseFailure(`PostgreSQL did not start:\n${[spawnError, ...lines].join('\n').trim()}`)
  }
  child.unref()
  return child
}

/** Keeps the last lines for a failure message, and passes on what an operator should see. */
function remember(child: ChildProcess, log: (line: string) => void): string[] {
  const lines: string[] = []
  if (child.stderr) {
    createInterface({ input: child.stderr }).on('line', (line) => {
      lines.push(line)
      if (lines.length > REMEMBERED_LINES) lines.shift()
      if (WORTH_SAYING.test(line)) log(`PostgreSQL: ${line}`)
    })
    // Listening to it must not keep this process alive.
    if ('unref' in child.stderr && typeof child.stderr.unref === 'function') child.stderr.unref()
  }
  return lines
}
