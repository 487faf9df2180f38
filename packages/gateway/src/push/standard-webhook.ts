import { createHmac } from 'node:crypto'

/** The prefix of secrets by the Standard Webhooks convention. */
export const SECRET_PREFIX = 'whsec_'

export interface SignedWebhook {
  /** The same for each attempt, so that a receiver can drop a repetition. */
  readonly id: string
  readonly at: Date
  readonly body: string
}

/** The three headers of Standard Webhooks: HMAC-SHA256 over id, time in seconds and body. */
export function webhookHeaders({ id, at, body }: SignedWebhook, secret: Uint8Array): Record<string, string> {
  const timestamp = String(Math.floor(at.getTime() / 1_000))
  const signature = createHmac('sha256', secret).update(`${id}.${timestamp}.${body}`).digest('base64')
  return { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${signature}` }
}
