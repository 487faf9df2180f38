import { execFile, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, chownSync, existsSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { tmpdir } from 'node:os'
import { freePorts } from '@agent-exchange/testkit'
import { readServerFile } from '../../packages/database/src/embedded/leftover-server.ts'
import { serverUserFor } from '../../packages/database/src/embedded/server-user.ts'
import { waitUntil } from '../../packages/database/src/embedded/wait-until.ts'

const run = promisify(execFile)
const READY_LIMIT_MS = 30_000
/** Durability is off, as on the test server, because the data is temporary. */
const FAST_SETTINGS = ['fsync=off', 'full_page_writes=off', 'synchronous_commit=off', 'max_connections=400']

export interface InstalledPostgres {
  readonly bin: string
  /** For example 15.18. */
  readonly version: string
}

/** Prefers Debian's PostgreSQL 15 to one on PATH. */
export async function findInstalledPostgres(): Promise<InstalledPostgres | undefined> {
  const onPath = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, 'postgres'))
  for (const program of ['/usr/lib/postgresql/15/bin/postgres', ...onPath]) {
    if (!existsSync(program)) continue
    const { stdout } = await run(program, ['--version'])
    const bin = dirname(realpathSync(program))
    if (existsSync(join(bin, 'initdb')))
      return { bin, version: /\d+(?:\.\d+)*/u.exec(stdout)?.[0] ?? 'unknown' }
  }
  return undefined
}

interface InstalledServer extends AsyncDisposable {
  readonly url: string
}

interface InstalledServerOptions {
  /** Server settings as NAME=VALUE, beside those that make it fast. */
  readonly settings?: readonly string[]
  /** A folder with `cluster`, such as a base backup. By default one is made, and removed at the end. */
  readonly folder?: string
}

/** A folder that belongs to the server's user. */
export function serverFolder(name: string): string {
  const folder = mkdtempSync(join(tmpdir(), name))
  const user = serverUserFor(folder)
  if (user) chownSync(folder, user.uid, user.gid)
  chmodSync(folder, 0o700)
  return folder
}

/** Runs a program of PostgreSQL as the server's user. */
export async function runProgram(
  { bin }: InstalledPostgres,
  program: string,
  args: readonly string[],
): Promise<void> {
  await run(join(bin, program), args, { ...serverUserFor(''), cwd: '/', env: { LC_ALL: 'C', TZ: 'UTC' } })
}

/** A temporary server on a loopback port; as root it runs as another user. */
export async function startInstalledPostgres(
  installed: InstalledPostgres,
  { settings: given = [], folder: made }: InstalledServerOptions = {},
): Promise<InstalledServer> {
  const { bin } = installed
  const folder = made ?? serverFolder('aex-pg-')
  const cluster = join(folder, 'cluster')
  if (made === undefined) {
    const fixed = ['-U', 'aex', '-E', 'UTF8', '-A', 'trust', '--no-sync']
    await runProgram(installed, 'initdb', ['-D', cluster, ...fixed])
  }
  const [port = 0] = await freePorts(1)
  const settings = [...FAST_SETTINGS, ...given, 'listen_addresses=127.0.0.1', `port=${port}`].flatMap(
    (each) => ['-c', each],
  )
  const child = spawn(join(bin, 'postgres'), ['-D', cluster, '-k', folder, ...settings], {
    ...serverUserFor(cluster),
    cwd: '/',
    env: { LC_ALL: 'C', TZ: 'UTC' },
    stdio: 'ignore',
  })
  const kill = () => void child.kill('SIGQUIT')
  process.once('exit', kill)
  const stop = async () => {
    process.removeListener('exit', kill)
    await endOf(child)
    rmSync(folder, { recursive: true, force: true })
  }
  if (!(await waitUntil(() => readServerFile(cluster).isReady, READY_LIMIT_MS))) {
    await stop()
    throw new Error(`PostgreSQL of ${bin} did not start`)
  }
  return { url: `postgres://aex@127.0.0.1:${port}/postgres`, [Symbol.asyncDispose]: stop }
}

async function endOf(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  child.kill('SIGINT')
  await once(child, 'exit')
}
