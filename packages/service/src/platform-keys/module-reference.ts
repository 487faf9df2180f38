import { parseKeyUri } from '@agent-exchange/pkcs11'

interface StoredPrivateKey {
  readonly private_key_encrypted: Uint8Array
}

/**
 * First byte of `private_key_encrypted`: 1 is a key that is encrypted with the data key (`server/master-key`), 2 the
 * reference of a key in a PKCS#11 module, as an RFC 7512 URI.
 */
const REFERENCE = 2

export function storeReference(reference: string): Uint8Array {
  return Buffer.concat([Buffer.of(REFERENCE), Buffer.from(reference)])
}

/** Undefined: the private key is here, encrypted. */
export function storedReference({ private_key_encrypted: stored }: StoredPrivateKey): string | undefined {
  return stored[0] === REFERENCE ? Buffer.from(stored.subarray(1)).toString() : undefined
}

/** The token that holds the key, or undefined if the database does. */
export function tokenOf(row: StoredPrivateKey): string | undefined {
  const reference = storedReference(row)
  return reference === undefined ? undefined : (parseKeyUri(reference)?.token ?? 'unknown')
}
