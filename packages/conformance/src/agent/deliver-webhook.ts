import { request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import type { SignedWebhook } from './signed-webhook.ts'

/** Where the agent under test receives webhooks. */
export interface WebhookTarget {
  /** Covered by signatures, as the agent would register it. */
  readonly url: string
  /** Where to connect instead, such as behind the proxy that ends TLS. */
  readonly connect: string
  /** PEM of the certificate authority of `connect`. */
  readonly ca?: string
}

const LIMIT_MS = 20_000

/** The status of the agent's answer. Host and path are those of the signed address. */
export function deliverWebhook({ connect, ca }: WebhookTarget, webhook: SignedWebhook): Promise<number> {
  const { host, pathname, search } = new URL(webhook.url)
  const { protocol, hostname, port } = new URL(connect)
  const start = protocol === 'https:' ? requestHttps : requestHttp
  return new Promise((resolve, reject) => {
    const outgoing = start({
      hostname,
      port,
      path: pathname + search,
      method: 'POST',
      headers: { ...webhook.headers, host, 'content-length': String(Buffer.byteLength(webhook.body)) },
      agent: false,
      signal: AbortSignal.timeout(LIMIT_MS),
      ...(ca !== undefined && { ca }),
    })
    outgoing.on('response', (incoming) => {
      incoming.resume()
      resolve(incoming.statusCode ?? 0)
    })
    outgoing.on('error', reject)
    outgoing.end(webhook.body)
  })
}
