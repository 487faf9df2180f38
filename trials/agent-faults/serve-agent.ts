import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { NotificationKeyDirectory } from '@agent-exchange/protocol'
import type { AgentContext } from '../../packages/sdk/src/context.ts'
import { toNodeListener } from '../../packages/sdk/src/node/http-handler.ts'
import type { SqliteInbox } from '../../packages/sdk/src/node/sqlite-inbox.ts'
import type { Receiver } from '../../packages/sdk/src/receive/receiver.ts'

/** Short waits, and attempts that never run out: the trial ends calls by killing the process. */
export const TRIAL_LIMITS = {
  gapPatienceMs: 10,
  pollMs: 100,
  safetyPollMs: 100,
  pollRetryMs: 20,
  handlerAttempts: 100_000,
  pageItems: 5,
} as const

/** The same agent with a key directory of the trial, which signs the webhooks itself. */
export function withDirectory(context: AgentContext, directory: NotificationKeyDirectory): AgentContext {
  const { connection } = context
  const call = ((operation, options) =>
    operation === 'getNotificationSigningKeys'
      ? Promise.resolve(directory)
      : connection.call(operation, options)) as typeof connection.call
  return { ...context, connection: { ...connection, call } }
}

/** Serves webhooks and the status of the inbox on loopback, prints the port, and ends at SIGTERM. */
export async function serveAgent(receiver: Receiver, inbox: SqliteInbox): Promise<void> {
  await receiver.start()
  const webhooks = toNodeListener(receiver.handler)
  const server = createServer((request, response) => {
    if (request.url !== '/status') return webhooks(request, response)
    receiver.status().then(
      (status) => response.end(JSON.stringify(status)),
      () => response.writeHead(500).end(),
    )
  })
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
  process.on('SIGTERM', () => {
    void receiver.stop().then(async () => {
      await inbox.close()
      process.exit(0)
    })
  })
}
