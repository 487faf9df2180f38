// Apart from ec-encoding.ts, because the worker thread starts faster without the crypto package.

/** OBJECT IDENTIFIER of P-256 (RFC 5480 section 2.1.1.1). */
export const P256_PARAMETERS = Buffer.from('06082a8648ce3d030107', 'hex')
/** PrintableString "edwards25519" (PKCS#11 3.0 section 2.3.10). */
export const ED25519_PARAMETERS = Buffer.from('130c656477617264733235353139', 'hex')

export const OCTET_STRING = 0x04

export function derOctetString(content: Uint8Array): Buffer {
  return Buffer.concat([Buffer.of(OCTET_STRING, content.length), content])
}
