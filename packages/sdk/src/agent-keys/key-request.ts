import type { PublicKeyRequest } from '@agent-exchange/protocol'
import type { OwnKey } from '../keys/key-store.ts'

/** A key as the exchange registers it: public members only. It is valid from when it was made. */
export function keyRequest(key: OwnKey, use: 'signing' | 'encryption'): PublicKeyRequest {
  const { keyId, publicJwk, createdAt } = key
  return { key_id: keyId, use, format: 'jwk', public_key: { ...publicJwk }, valid_from: createdAt }
}
