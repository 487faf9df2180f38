import { chmodSync, existsSync, mkdtempSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type EmbeddedDatabase, startEmbedded } from '@agent-exchange/database/embedded'
import postgres from 'postgres'
import { removeAbandonedServers } from './abandoned-servers.ts'
import { freePorts } from './free-ports.ts'

export interface TestServer extends AsyncDisposable {
  /** URL of its administrative database, for TESTKIT_POSTGRES. */
  readonly url: string
  /** Stops the server and removes its files synchronously, for a process that is exiting. */
  readonly abandon: () => void
}

/** No data has to survive the run. Dropping a database searches all buffers, and each test file drops one. */
const FAST = {
  fsync: 'off',
  full_page_writes: 'off',
  synchronous_commit: 'off',
  shared_buffers: '32MB',
  max_wal_size: '256MB',
  max_connections: '400',
  // Each test opens about ten connections, and each derives the key of the password.
  scram_iterations: '1',
}
/** Databases are copied and removed by the hundred, which is several times faster in memory. */
const MEMORY_FOLDER = '/dev/shm'
const MEMORY_NEEDED = 2 ** 31
const PREFIX = 'aex-test-'
const ABANDON_LIMIT_MS = 3_000
const ignore = () => undefined

/** An embedded PostgreSQL for tests, on a loopback port that other processes can use. */
export async function startTestServer(): Promise<TestServer> {
  const parent = parentFolder()
  removeAbandonedServers(parent, PREFIX)
  const dataDirectory = mkdtempSync(join(parent, PREFIX))
  chmodSync(dataDirectory, 0o711)
  const [port = 0] = await freePorts(1)
  const settings = { ...FAST, listen_addresses: '127.0.0.1', port: String(port) }
  const embedded = await startEmbedded({ dataDirectory, log: ignore, settings })
  const { user, password, database } = embedded.administration
  await hashPasswordAgain(`postgres://${user}:${password}@127.0.0.1:${port}/${database}`, user, password)
  const remove = () => rmSync(dataDirectory, { recursive: true, force: true, maxRetries: 5, retryDelay: 50 })
  return {
    url: `postgres://${user}:${password}@127.0.0.1:${port}/${database}`,
    abandon: () => {
      endNow(embedded)
      remove()
    },
    [Symbol.asyncDispose]: async () => {
      await embedded[Symbol.asyncDispose]()
      remove()
    },
  }
}

/** The first hash of the password is from before the setting. */
async function hashPasswordAgain(url: string, user: string, password: string): Promise<void> {
  const sql = postgres(url, { max: 1 })
  await sql.unsafe(`alter role ${user} password '${password}'`)
  await sql.end()
}

function parentFolder(): string {
  if (!existsSync(MEMORY_FOLDER)) return tmpdir()
  const { bavail, bsize } = statfsSync(MEMORY_FOLDER)
  return bavail * bsize >= MEMORY_NEEDED ? MEMORY_FOLDER : tmpdir()
}

/** SIGQUIT: immediate shutdown; PostgreSQL ends its sessions and removes its pid file last. */
function endNow({ pid, location }: EmbeddedDatabase): void {
  const nobodyWakesUs = new Int32Array(new SharedArrayBuffer(4))
  const pidFile = join(location, 'postmaster.pid')
  process.kill(pid(), 'SIGQUIT')
  for (let waited = 0; waited < ABANDON_LIMIT_MS && existsSync(pidFile); waited += 20) {
    Atomics.wait(nobodyWakesUs, 0, 0, 20)
  }
}
