import {
  generateKeyPair,
  sha256Digest,
  signEs256,
  signWebhook,
  type PrivateKey,
  type WebhookDelivery,
} from '@agent-exchange/crypto'
import type { NotificationEnvelope, NotificationKeyDirectory, PublicKey } from '@agent-exchange/protocol'
import { MemoryInbox } from './memory-inbox.ts'
import { createNotificationKeys } from './notification-keys.ts'
import { createWebhookHandler, type WebhookHandlerOptions } from './webhook-handler.ts'

/** A sender of signed deliveries with a key directory, for tests of the receiving side. */
export const NOW = new Date('2026-03-01T12:00:00Z')
export const URL_OF_AGENT = 'https://agent.example/hooks/in'
export const ORGANIZATION = 'org_cars'

export const envelope = (sequence: number, change: object = {}): NotificationEnvelope => ({
  notification_id: `ntf_${sequence}`,
  event_id: `evt_${sequence}`,
  event_type: 'package.accepted',
  protocol_version: 'svc/1.0',
  sequence,
  occurred_at: '2026-03-01T11:59:00Z',
  organization_id: ORGANIZATION,
  package_id: 'pkg_1',
  thread_id: 'thread_1',
  state: 'accepted',
  transport_mode: 'native',
  content_digest: 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:',
  correlation_id: 'corr_1',
  ...change,
})

export interface TestKey {
  readonly keyId: string
  readonly privateKey: PrivateKey
  readonly entry: PublicKey
}

export async function testKey(keyId: string, change: Partial<PublicKey> = {}): Promise<TestKey> {
  const { publicKey, privateKey } = await generateKeyPair('signing')
  const entry: PublicKey = {
    key_id: keyId,
    use: 'signing',
    format: 'jwk',
    public_key: { kty: 'EC', crv: 'P-256', x: publicKey.jwk.x, y: publicKey.jwk.y },
    valid_from: '2026-01-01T00:00:00Z',
    valid_until: '2027-01-01T00:00:00Z',
    status: 'active',
    registered_at: '2026-01-01T00:00:00Z',
    ...change,
  }
  return { keyId, privateKey, entry }
}

export const directoryOf = (keys: readonly TestKey[], version = 'v1'): NotificationKeyDirectory => ({
  directory_version: version,
  generated_at: NOW.toISOString(),
  keys: keys.map(({ entry }) => entry),
})

/** A handler that trusts the keys of a directory, and its inbox. */
export function handlerFor(directory: NotificationKeyDirectory, change: Partial<WebhookHandlerOptions> = {}) {
  const inbox = new MemoryInbox()
  const now = () => NOW
  const keys = createNotificationKeys({ fetchDirectory: async () => directory, store: inbox, now })
  const handler = createWebhookHandler({ organizationId: ORGANIZATION, keys, inbox, now, ...change })
  return { handler, inbox }
}

export interface Signed {
  readonly url: string
  readonly headers: Record<string, string>
  readonly body: Uint8Array<ArrayBuffer>
}

/** One delivery attempt as the exchange makes it. */
export async function signedDelivery(
  key: TestKey,
  event: unknown,
  options: Partial<WebhookDelivery> & { readonly created?: Date; readonly lifetimeSeconds?: number } = {},
): Promise<Signed> {
  const { created = NOW, lifetimeSeconds, ...change } = options
  const text = typeof event === 'string' ? event : JSON.stringify(event)
  const body = new TextEncoder().encode(text)
  const eventId = (event as { event_id?: string }).event_id ?? 'evt_1'
  const delivery = { url: URL_OF_AGENT, body, deliveryId: 'dlv_1', eventId, attempt: 1, ...change }
  const signing = { key: key.privateKey, keyId: key.keyId, created }
  const headers = await signWebhook(delivery, {
    ...signing,
    ...(lifetimeSeconds !== undefined && { lifetimeSeconds }),
  })
  return { url: delivery.url, headers: { ...headers }, body }
}

/** The same delivery under other signature parameters or components, with a signature that holds for them. */
export async function resigned(
  key: TestKey,
  signed: Signed,
  change: (parts: { parameters: string; lines: string[] }) => { parameters: string; lines: string[] },
): Promise<Signed> {
  const { pathname, host } = new URL(signed.url)
  const field = (name: string) => signed.headers[name] ?? ''
  const parts = change({
    parameters: field('Signature-Input').slice('sig1='.length),
    lines: [
      '"@method": POST',
      `"@authority": ${host}`,
      `"@path": ${pathname}`,
      `"content-digest": ${await sha256Digest(signed.body)}`,
      '"content-type": application/json',
      ...['svc-delivery-id', 'svc-event-id', 'svc-delivery-attempt'].map(
        (name) => `"${name}": ${field(name)}`,
      ),
    ],
  })
  const base = [...parts.lines, `"@signature-params": ${parts.parameters}`].join('\n')
  const signature = await signEs256(key.privateKey, new TextEncoder().encode(base))
  return {
    ...signed,
    headers: {
      ...signed.headers,
      'Signature-Input': `sig1=${parts.parameters}`,
      Signature: `sig1=:${btoa(String.fromCharCode(...signature))}:`,
    },
  }
}

export const requestOf = ({ url, headers, body }: Signed, init: RequestInit = {}): Request =>
  new Request(url, { method: 'POST', headers, body, ...init })
