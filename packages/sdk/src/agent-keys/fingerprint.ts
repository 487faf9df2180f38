import { jwkThumbprint } from '@agent-exchange/crypto'
import type { KeyStore } from '../keys/key-store.ts'
import { currentKey } from './make-keys.ts'

/**
 * The fingerprint (RFC 7638) to give to other companies over another channel. It is that of the signing key, which
 * introduces all other keys.
 *
 * @example
 * console.log('ours is', await agentFingerprint(keys))
 */
export async function agentFingerprint(keys: KeyStore): Promise<string> {
  return jwkThumbprint((await currentKey(keys, 'signing')).publicJwk)
}
