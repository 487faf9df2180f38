/** The published test keys. Their private keys are public: see the warning in keys.json. */

import {
  importPrivateJwk,
  importPublicJwk,
  type KeyUse,
  type PrivateJwk,
  type PrivateKey,
  type PublicJwk,
  type PublicKey,
} from '@agent-exchange/crypto'
import keyFile from './keys.json' with { type: 'json' }

export const KEY = {
  senderSigning: 'key_seats_signing_1',
  senderEncryption: 'key_seats_encryption_1',
  recipientSigning: 'key_carmaker_signing_1',
  recipientEncryption: 'key_carmaker_encryption_1',
  strangerSigning: 'key_stranger_signing_1',
  strangerEncryption: 'key_stranger_encryption_1',
  platformWebhook: 'key_platform_webhook_1',
  platformRelease: 'key_platform_release_1',
} as const

interface TestKey {
  readonly key_id: string
  readonly use: KeyUse
  readonly jwk: PrivateJwk
}

function testKey(keyId: string): TestKey {
  const key = keyFile.keys.find(({ key_id }) => key_id === keyId)
  if (key === undefined) throw new Error(`keys.json has no key ${keyId}`)
  return key as TestKey
}

export function publicJwk(keyId: string): PublicJwk {
  const { d: _private, ...jwk } = testKey(keyId).jwk
  return jwk
}

export function privateJwk(keyId: string): PrivateJwk {
  return testKey(keyId).jwk
}

export function publicKey(keyId: string): Promise<PublicKey> {
  return importPublicJwk(publicJwk(keyId), { use: testKey(keyId).use })
}

export function privateKey(keyId: string): Promise<PrivateKey> {
  return importPrivateJwk(privateJwk(keyId), { use: testKey(keyId).use })
}

/** The argument of the signing functions. */
export async function signingKey(keyId: string): Promise<{ key: PrivateKey; keyId: string }> {
  return { key: await privateKey(keyId), keyId }
}
