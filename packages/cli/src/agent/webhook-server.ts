import { once } from 'node:events'
import { createServer as createPlainServer, type IncomingMessage } from 'node:http'
import { createServer } from 'node:https'
import type { WebhookHandler } from '@agent-exchange/sdk'
import { toNodeListener } from '@agent-exchange/sdk/node'
import { CommandFailure } from '../failure.ts'
import { readPem } from '../pem-file.ts'

export interface WebhookServerOptions {
  readonly host: string
  readonly port: number
  readonly cert?: string
  readonly key?: string
  /** Sees every request before the handler does. */
  readonly onRequest?: (request: IncomingMessage) => void
}

/** Listens for webhooks: with TLS if a certificate is given, without it behind a TLS-terminating proxy. */
export async function startWebhookServer(
  handler: WebhookHandler,
  { host, port, cert, key, onRequest }: WebhookServerOptions,
): Promise<AsyncDisposable> {
  if ((cert === undefined) !== (key === undefined))
    throw new CommandFailure('Give both --cert and --key, or neither behind a TLS-terminating proxy.')
  const listener = toNodeListener(handler)
  const server =
    cert === undefined || key === undefined
      ? createPlainServer(listener)
      : secureServer({ cert: readPem(cert), key: readPem(key) }, listener)
  if (onRequest) server.on('request', onRequest)
  server.listen(port, host)
  await once(server, 'listening').catch(() => {
    throw new CommandFailure(`Port ${port} of ${host} cannot be used. Choose another with --port and --host.`)
  })
  return {
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve))
      server.closeAllConnections()
      await closed
    },
  }
}

function secureServer(identity: { cert: string; key: string }, listener: ReturnType<typeof toNodeListener>) {
  try {
    return createServer(identity, listener)
  } catch {
    // The library's message may quote the key.
    throw new CommandFailure('--cert and --key are not a certificate and its private key in PEM form.')
  }
}
