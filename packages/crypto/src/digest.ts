import { sha256 } from '#primitives'
import { decodeBase64, encodeBase64 } from './base64.ts'
import { CryptoError } from './errors.ts'
import { trimBlanks } from './optional-whitespace.ts'

const SHA256_LENGTH = 32
const DIGEST = /^sha-256=:([A-Za-z0-9+/]+=*):$/
/** A dictionary member whose value is a byte sequence, without parameters (RFC 9530 section 2 has none). */
const MEMBER = /^([a-z*][a-z0-9_.*-]*)=(:[A-Za-z0-9+/]*=*:)$/

/** The digest of bytes, or of the UTF-8 encoding of a string, in RFC 9530 form. */
export async function sha256Digest(data: Uint8Array | string): Promise<string> {
  return `sha-256=:${encodeBase64(await sha256(data))}:`
}

/** The 32 bytes of a digest in the form of the protocol; any other form is refused. */
export function parseDigest(text: string): Uint8Array {
  const encoded = DIGEST.exec(text)?.[1]
  const bytes = encoded === undefined ? undefined : decodeBase64(encoded)
  if (bytes?.length !== SHA256_LENGTH) throw new CryptoError('digest_malformed')
  return bytes
}

/** Whether two digests are equal. Both must be well-formed. */
export function digestsEqual(left: string, right: string): boolean {
  return bytesEqual(parseDigest(left), parseDigest(right))
}

/**
 * The sha-256 member of a Content-Digest field, in the form of the protocol. The field is a dictionary that may contain
 * other algorithms, which are ignored.
 */
export function parseContentDigest(field: string): string {
  const members = field.split(',').map((part) => MEMBER.exec(trimBlanks(part)))
  if (members.includes(null)) throw new CryptoError('digest_malformed')
  const digests = members.filter((member) => member?.[1] === 'sha-256')
  const digest = digests[0]?.[2]
  if (digest === undefined) throw new CryptoError('digest_missing')
  // In a dictionary the last duplicate wins (RFC 9651 section 4.2.2); an honest sender writes one.
  if (digests.length > 1) throw new CryptoError('digest_malformed')
  const normal = `sha-256=${digest}`
  parseDigest(normal)
  return normal
}

/** Constant-time comparison for equal lengths. */
export function bytesEqual(left: Uint8Array, right: Uint8Array): boolean {
  if (left.length !== right.length) return false
  let difference = 0
  for (const [i, byte] of left.entries()) difference |= byte ^ (right[i] ?? 0)
  return difference === 0
}
