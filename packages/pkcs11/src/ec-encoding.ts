import { decodeBase64url, encodeBase64url, type PublicJwk } from '@agent-exchange/crypto'
import { OCTET_STRING } from './ec-parameters.ts'
import { ModuleError } from './module-error.ts'

const COORDINATE_BYTES = 32
const POINT_BYTES = 1 + 2 * COORDINATE_BYTES
const UNCOMPRESSED = 0x04

export function pointOf({ x, y }: PublicJwk): Buffer {
  return Buffer.concat([Buffer.of(UNCOMPRESSED), decodeBase64url(x), decodeBase64url(y)])
}

export function publicJwkOf(ecPoint: Uint8Array): PublicJwk {
  const point = contentOf(ecPoint, POINT_BYTES)
  if (point?.[0] !== UNCOMPRESSED) throw new ModuleError('call_refused', { returned: 'CKA_EC_POINT' })
  const x = encodeBase64url(point.subarray(1, 1 + COORDINATE_BYTES))
  const y = encodeBase64url(point.subarray(1 + COORDINATE_BYTES))
  return { kty: 'EC', crv: 'P-256', x, y }
}

export function ed25519KeyOf(ecPoint: Uint8Array): Uint8Array {
  const key = contentOf(ecPoint, COORDINATE_BYTES)
  if (!key) throw new ModuleError('call_refused', { returned: 'CKA_EC_POINT' })
  return Uint8Array.from(key)
}

/** CKA_EC_POINT is the DER of an OCTET STRING; some modules give its content alone. */
function contentOf(bytes: Uint8Array, length: number): Uint8Array | undefined {
  if (bytes.length === length) return bytes
  const isDer = bytes.length === length + 2 && bytes[0] === OCTET_STRING && bytes[1] === length
  return isDer ? bytes.subarray(2) : undefined
}
