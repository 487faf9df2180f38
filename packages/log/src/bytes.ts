import { decodeBase64 } from '@agent-exchange/crypto'

const encoder = new TextEncoder()

export function utf8(text: string): Uint8Array {
  return encoder.encode(text)
}

export function concatBytes(...parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}

export function uint64(value: number): Uint8Array {
  const bytes = new Uint8Array(8)
  let rest = value
  for (let at = 7; rest > 0 && at >= 0; at--) {
    bytes[at] = rest % 256
    rest = Math.floor(rest / 256)
  }
  return bytes
}

export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

/** Undefined where the text is not lower-case hexadecimal of whole bytes. */
export function fromHex(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(text.length >> 1)
  for (let at = 0; at < bytes.length; at++) {
    const value = (digitAt(text, 2 * at) << 4) | digitAt(text, 2 * at + 1)
    if (value < 0) return undefined
    bytes[at] = value
  }
  return text.length % 2 === 0 ? bytes : undefined
}

/** Of 0 to 9 and a to f; -1 for anything else, which leaves a negative number after shift and or. */
function digitAt(text: string, at: number): number {
  const code = text.charCodeAt(at)
  if (code >= 48 && code <= 57) return code - 48
  return code >= 97 && code <= 102 ? code - 87 : -1
}

/** Standard base64 of exactly 32 bytes; undefined where the text is anything else. */
export function hashFromBase64(text: string): Uint8Array | undefined {
  const bytes = decodeBase64(text)
  return bytes?.length === 32 ? bytes : undefined
}

/** A decimal without sign or leading zero, up to the largest exact integer; undefined for anything else. */
export function parseDecimal(text: string): number | undefined {
  if (!/^(?:0|[1-9]\d{0,15})$/u.test(text)) return undefined
  const value = Number(text)
  return Number.isSafeInteger(value) ? value : undefined
}
