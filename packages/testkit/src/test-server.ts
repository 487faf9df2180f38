import { chmodSync, existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded, type EmbeddedDatabase } from '@agent-exchange/service/database'
import { freePorts } from './free-ports.ts'

export interface TestServer extends AsyncDisposable {
  /** URL of its administrative database, for TESTKIT_POSTGRES. */
  readonly url: string
  /** Stops the server and removes its files synchronously, for a process that is exiting. */
  readonly abandon: () => void
}

/** No data has to survive the run, so fsync is off. */
const FAST = { fsync: 'off', full_page_writes: 'off', synchronous_commit: 'off', max_connections: '400' }
const ABANDON_LIMIT_MS = 3_000
const ignore = () => undefined

/** An embedded PostgreSQL for tests, on a loopback port that other processes can use. */
export async function startTestServer(): Promise<TestServer> {
  const dataDirectory = mkdtempSync(join(tmpdir(), 'aex-test-'))
  chmodSync(dataDirectory, 0o711)
  const [port = 0] = await freePorts(1)
  const settings = { ...FAST, listen_addresses: '127.0.0.1', port: String(port) }
  const embedded = await startEmbedded({ dataDirectory, log: ignore, settings })
  const { user, password, database } = embedded.administration
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

/** SIGQUIT: immediate shutdown; PostgreSQL ends its sessions and removes its pid file last. */
function endNow({ pid, location }: EmbeddedDatabase): void {
  const nobodyWakesUs = new Int32Array(new SharedArrayBuffer(4))
  const pidFile = join(location, 'postmaster.pid')
  process.kill(pid(), 'SIGQUIT')
  for (let waited = 0; waited < ABANDON_LIMIT_MS && existsSync(pidFile); waited += 20) {
    Atomics.wait(nobodyWakesUs, 0, 0, 20)
  }
}
