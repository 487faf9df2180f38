import { createPublicKey, type KeyObject } from 'node:crypto'
import { ExternalSigningKey } from 'oidc-provider'
import type { TokenKey } from '../platform-keys/token-keys.ts'

/** A token key for oidc-provider, which then never has the private part: the key may be in a module. */
export class TokenSigningKey extends ExternalSigningKey {
  readonly #key: TokenKey

  constructor(key: TokenKey) {
    super()
    this.#key = key
  }

  override get kid(): string {
    return this.#key.keyId
  }

  override get alg(): string {
    return 'ES256'
  }

  override keyObject(): KeyObject {
    return createPublicKey({ key: { ...this.#key.publicJwk }, format: 'jwk' })
  }

  override sign(data: Uint8Array): Promise<Uint8Array> {
    return this.#key.sign(data)
  }
}
