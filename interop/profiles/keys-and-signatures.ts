import {
  CryptoError,
  decodeBase64url,
  importPublicJwk,
  jwkThumbprint,
  type KeyUse,
  verifyEs256,
} from '@agent-exchange/crypto'
import { publicKey } from '../test-keys.ts'
import { profile } from './profile.ts'

export const publicJwk = profile(async (input: { jwk: unknown; use?: KeyUse }) => {
  const { jwk } = await importPublicJwk(input.jwk, input.use === undefined ? {} : { use: input.use })
  return { jwk, thumbprint: await jwkThumbprint(jwk) }
})

interface Es256Input {
  readonly message: string
  readonly signature: string
  readonly verify_with: string
}

export const es256 = profile(async ({ message, signature, verify_with }: Es256Input) => {
  const key = await publicKey(verify_with)
  // A bare signature is valid or not, so there is only one code.
  const holds = await verifyEs256(key, decodeBase64url(message), decodeBase64url(signature))
  if (!holds) throw new CryptoError('signature_mismatch')
  return { verified: true }
})
