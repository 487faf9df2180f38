import { sha256Digest } from './digest.ts'
import { signEs256 } from './es256.ts'
import { generateKeyPair } from './keys.ts'
import { signWebhook } from './webhook-sign.ts'
import type { WebhookKey, WebhookRequest } from './webhook-verify.ts'

/** A valid delivery, its key and its time, for the tests of both sides. */
const { publicKey, privateKey } = await generateKeyPair('signing')
export { publicKey }
export const created = new Date('2026-03-01T12:00:00Z')
export const seconds = created.getTime() / 1_000
export const body = new TextEncoder().encode('{"event_id":"evt_1","sequence":7}')
export const url = 'https://agent.example/hooks/in'
export const delivery = { url, body, deliveryId: 'dlv_1', eventId: 'evt_1', attempt: 2 }
export const signing = { key: privateKey, keyId: 'key_n1', created }
export const headers: Record<string, string> = await signWebhook(delivery, signing)
export const request: WebhookRequest = { method: 'POST', url, headers, body }
export const pinned: WebhookKey = { publicKey, status: 'active', valid_from: '2026-01-01T00:00:00Z' }
export const keys = (id: string): WebhookKey | undefined => (id === 'key_n1' ? pinned : undefined)
export const verification = { keys, now: created }

/** The signature base of the valid delivery, written by hand. */
export const parameters = (headers['Signature-Input'] ?? '').slice('sig1='.length)
export const baseLines: readonly string[] = [
  '"@method": POST',
  '"@authority": agent.example',
  '"@path": /hooks/in',
  `"content-digest": ${await sha256Digest(body)}`,
  '"content-type": application/json',
  '"svc-delivery-id": dlv_1',
  '"svc-event-id": evt_1',
  '"svc-delivery-attempt": 2',
]
export const base = [...baseLines, `"@signature-params": ${parameters}`].join('\n')

/** Signs arbitrary parameters and components; the signature itself is always valid. */
export async function signedWith(input: string, lines = baseLines): Promise<WebhookRequest> {
  const text = new TextEncoder().encode([...lines, `"@signature-params": ${input}`].join('\n'))
  const signature = Buffer.from(await signEs256(privateKey, text)).toString('base64')
  const signed = { 'Signature-Input': `sig1=${input}`, Signature: `sig1=:${signature}:` }
  return { ...request, headers: { ...headers, ...signed } }
}
