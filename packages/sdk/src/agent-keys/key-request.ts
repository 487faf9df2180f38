import type { PublicKeyRequest } from '@agent-exchange/protocol'
import type { OwnKey } from '../keys/key-store.ts'

/** A registration request for a key: public members only. The key is valid from its creation. */
export function keyRequest(key: OwnKey, use: 'signing' | 'encryption'): PublicKeyRequest {
  const { keyId, publicJwk, createdAt } = key
  return { key_id: keyId, use, format: 'jwk', public_key: { ...publicJwk }, valid_from: createdAt }
}
