/** r and s of P-256 are 32 bytes each. */
const HALF = 32
const SEQUENCE = 0x30
const INTEGER = 0x02

/** ECDSA-Sig-Value (RFC 3279 section 2.2.3) of a raw r||s; both halves are below 2^256. */
export function derFromRaw(raw: Uint8Array): Uint8Array {
  const r = integerStart(raw, 0)
  const s = integerStart(raw, HALF)
  const rLength = HALF - r.start + r.sign
  const sLength = HALF - s.start + s.sign
  // At most 72 bytes, so every length fits into one octet.
  const der = new Uint8Array(6 + rLength + sLength)
  der[0] = SEQUENCE
  der[1] = 4 + rLength + sLength
  der[2] = INTEGER
  der[3] = rLength
  der.set(raw.subarray(r.start, HALF), 4 + r.sign)
  der[4 + rLength] = INTEGER
  der[5 + rLength] = sLength
  der.set(raw.subarray(HALF + s.start, 2 * HALF), 6 + rLength + s.sign)
  return der
}

/** Converts DER from our own runtime to raw r||s. Not a parser for untrusted DER. */
export function rawFromDer(der: Uint8Array): Uint8Array {
  const raw = new Uint8Array(2 * HALF)
  const rLength = der[3] ?? 0
  const r = der.subarray(4, 4 + rLength)
  const s = der.subarray(6 + rLength)
  raw.set(r.subarray(Math.max(0, r.length - HALF)), Math.max(0, HALF - r.length))
  raw.set(s.subarray(Math.max(0, s.length - HALF)), HALF + Math.max(0, HALF - s.length))
  return raw
}

/** The start of the minimal big-endian form, and whether a leading zero must keep it positive. */
function integerStart(raw: Uint8Array, offset: number): { start: number; sign: 0 | 1 } {
  let start = 0
  while (start < HALF - 1 && raw[offset + start] === 0) start++
  return { start, sign: (raw[offset + start] ?? 0) >= 0x80 ? 1 : 0 }
}
