import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { publishDeskAddress } from '@agent-exchange/sdk/internal/node'
import type { FolderAgent } from '@agent-exchange/sdk/node'
import { createDeskApp } from './desk-app.ts'
import { MAXIMUM_CONNECTIONS, REQUEST_TIMEOUT_MS } from './desk-limits.ts'
import { folderDeskAgent } from './folder-desk-agent.ts'
import { folderDeskHost } from './folder-desk-host.ts'
import { createFolderSessions } from './folder-sessions.ts'

const LOOPBACK = '127.0.0.1'

export interface Desk extends AsyncDisposable {
  readonly port: number
  /** A link that signs one browser in, once. With a thread, it leads to the story of that thread. */
  newLink(threadId?: string): string
}

export interface DeskOptions {
  readonly port: number
  readonly now?: () => Date
  /** Called for an unexpected failure, without content. */
  readonly onFailure?: (failure: string) => void
}

/** Another process has the port, or this one may not listen on it. */
export class DeskPortUnusable extends Error {}

/** Serves the desk of an agent's folder to one person on this machine. */
export async function startDesk(folderAgent: FolderAgent, options: DeskOptions): Promise<Desk> {
  const { now = () => new Date() } = options
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS })
  server.maxConnections = MAXIMUM_CONNECTIONS
  server.listen(options.port, LOOPBACK)
  await once(server, 'listening').catch(() => {
    throw new DeskPortUnusable(`Port ${options.port} of ${LOOPBACK} cannot be used.`)
  })
  const { port } = server.address() as AddressInfo
  const sessions = createFolderSessions(() => now().getTime())
  const app = createDeskApp(folderDeskHost(folderDeskAgent(folderAgent), port, sessions), options)
  server.on('request', (request, response) => void app.handle(request, response))
  const published = await publishDeskAddress(folderAgent.folder.files.desk, port).catch((error: unknown) => {
    server.close()
    throw error
  })
  return {
    port,
    newLink(threadId) {
      const story = threadId === undefined ? '' : `&thread=${encodeURIComponent(threadId)}`
      return `http://${LOOPBACK}:${port}/enter?link=${sessions.newLink()}${story}`
    },
    async [Symbol.asyncDispose]() {
      await published[Symbol.asyncDispose]()
      app[Symbol.dispose]()
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}
