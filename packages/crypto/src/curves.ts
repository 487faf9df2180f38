/** The NIST curves y² = x³ − 3x + b over GF(p), as FIPS 186-5 and SP 800-186 give them. */
export type Curve = 'P-256' | 'P-384' | 'P-521'

interface Parameters {
  /** Octets of one coordinate (RFC 7518 section 6.2.1.2). */
  readonly size: number
  readonly p: bigint
  readonly b: bigint
  readonly n: bigint
}

export const CURVES: Readonly<Record<Curve, Parameters>> = {
  'P-256': {
    size: 32,
    p: 2n ** 256n - 2n ** 224n + 2n ** 192n + 2n ** 96n - 1n,
    b: 0x5ac635d8aa3a93e7b3ebbd55769886bc651d06b0cc53b0f63bce3c3e27d2604bn,
    n: 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n,
  },
  'P-384': {
    size: 48,
    p: 2n ** 384n - 2n ** 128n - 2n ** 96n + 2n ** 32n - 1n,
    b: 0xb3312fa7e23ee7e4988e056be3f82d19181d9c6efe8141120314088f5013875ac656398d8a2ed19d2a85c8edd3ec2aefn,
    n: 0xffffffffffffffffffffffffffffffffffffffffffffffffc7634d81f4372ddf581a0db248b0a77aecec196accc52973n,
  },
  'P-521': {
    size: 66,
    p: 2n ** 521n - 1n,
    b: 0x51953eb9618e1c9a1f929a21a0b68540eea2da725b99b315f3b8b489918ef109e156193951ec7e937b1652c0bd3bb1bf073573df883d2c34f1ef451fd46b503f00n,
    n: 0x1fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffa51868783bf2f966b7fcc0148f709a5d03bb5c9b8899c47aebb6fb71e91386409n,
  },
}

/**
 * Whether (x, y) is a point of the curve other than infinity, which has no affine form. Points are public, so the time
 * need not be constant. It is cheaper than importing the point, which matters because each envelope carries two. The
 * cofactor is 1, so every point on the curve is in the group.
 */
export function isOnCurve(curve: Curve, x: bigint, y: bigint): boolean {
  const { p, b } = CURVES[curve]
  if (x >= p || y >= p) return false
  return (y * y - x * x * x + 3n * x - b) % p === 0n
}

export function toBigInt(bytes: Uint8Array): bigint {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  let value = 0n
  let i = 0
  for (; i + 8 <= bytes.length; i += 8) value = (value << 64n) | view.getBigUint64(i)
  for (; i < bytes.length; i++) value = (value << 8n) | BigInt(view.getUint8(i))
  return value
}
