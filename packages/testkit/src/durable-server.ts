import { chmodSync, mkdirSync } from 'node:fs'
import { startEmbedded } from '@agent-exchange/database/embedded'
import { freePorts } from './free-ports.ts'

/** Starts a PostgreSQL in this folder with its usual settings, so that commits wait for the disk. Databases of tests are created on it. */
export async function startDurableServer(dataDirectory: string): Promise<AsyncDisposable> {
  mkdirSync(dataDirectory, { recursive: true })
  // As root, PostgreSQL runs as another user.
  chmodSync(dataDirectory, 0o711)
  const [port = 0] = await freePorts(1)
  const settings = { listen_addresses: '127.0.0.1', port: String(port) }
  const server = await startEmbedded({ dataDirectory, log: () => undefined, settings })
  const { user, password, database } = server.administration
  process.env['TESTKIT_POSTGRES'] = `postgres://${user}:${password}@127.0.0.1:${port}/${database}`
  return server
}
