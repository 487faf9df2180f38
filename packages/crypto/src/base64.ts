import { fromBase64, toBase64 } from '#primitives'
import { CryptoError } from './errors.ts'

/** Base64url without padding (RFC 7515 section 2). */
export function encodeBase64url(bytes: Uint8Array): string {
  return toBase64(bytes, 'base64url')
}

/**
 * Strict base64url. A text is canonical if encoding its bytes yields the same text, which excludes padding,
 * whitespace, the other alphabet and non-zero unused bits (RFC 4648 section 3.5).
 */
export function decodeBase64url(text: string, at?: string): Uint8Array {
  const bytes = fromBase64(text, 'base64url')
  if (bytes === undefined || encodeBase64url(bytes) !== text)
    throw new CryptoError('base64url_invalid', { at })
  return bytes
}

/** Base64 with padding, as structured fields write it (RFC 9651 section 3.3.5). */
export function encodeBase64(bytes: Uint8Array): string {
  return toBase64(bytes, 'base64')
}

/** Strict base64 with padding; undefined for any other text. */
export function decodeBase64(text: string): Uint8Array | undefined {
  const bytes = fromBase64(text, 'base64')
  return bytes !== undefined && encodeBase64(bytes) === text ? bytes : undefined
}

/**
 * Base64 in either alphabet (RFC 4648 sections 4 and 5), padded or not; undefined for any other text, including one
 * that mixes the alphabets or has non-zero unused bits.
 */
export function decodeAnyBase64(text: string): Uint8Array | undefined {
  const bytes = fromBase64(text, /[-_]/.test(text) ? 'base64url' : 'base64')
  if (bytes === undefined) return undefined
  const [standard, url] = [encodeBase64(bytes), encodeBase64url(bytes)]
  const padding = standard.slice(url.length)
  const spellings = [standard, url, url + padding, standard.slice(0, url.length)]
  return spellings.includes(text) ? bytes : undefined
}
