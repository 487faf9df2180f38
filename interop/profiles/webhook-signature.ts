import assert from 'node:assert/strict'
import { CryptoError, importPublicJwk, verifyWebhook, type WebhookRequest } from '@agent-exchange/crypto'
import { notificationEnvelope, type PublicKey } from '@agent-exchange/protocol'
import { KEY, publicKey } from '../test-keys.ts'
import { profile, requireSchema, utf8 } from './profile.ts'

interface WebhookInput {
  readonly request: {
    readonly method: string
    readonly url: string
    readonly headers: readonly (readonly [name: string, value: string])[]
    readonly body: string
  }
  /** A pinned key of the notification key directory. */
  readonly pinned_keys: readonly PublicKey[]
  readonly now: string
}

export const webhookSignature = profile(async ({ request, pinned_keys, now }: WebhookInput) => {
  const received: WebhookRequest = { ...request, body: utf8(request.body) }
  const pinned = async (keyId: string) => {
    const key = pinned_keys.find(({ key_id }) => key_id === keyId)
    return key && { ...key, publicKey: await importPublicJwk(key.public_key, { use: 'signing' }) }
  }
  const verified = await verifyWebhook(received, { keys: pinned, now: new Date(now) })
  requireSchema(notificationEnvelope, verified.event)
  return {
    key_id: verified.keyId,
    delivery_id: verified.deliveryId,
    event_id: verified.eventId,
    attempt: verified.attempt,
    signature_base: await signatureBase(received, new Date(now)),
  }
})

/** Our verifier returns the signature base only for a mismatch, so this verifies with another key. */
async function signatureBase(request: WebhookRequest, now: Date): Promise<string | undefined> {
  const stranger = await publicKey(KEY.strangerSigning)
  const keys = () => ({ publicKey: stranger, status: 'active', valid_from: '1970-01-01T00:00:00Z' })
  try {
    await verifyWebhook(request, { keys, now })
  } catch (error) {
    assert.ok(error instanceof CryptoError)
    return error.signatureBase
  }
  return undefined
}
