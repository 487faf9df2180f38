import { sha256Sync } from '#primitives'

const BLOCK_LENGTH = 64

/**
 * RFC 2104 with SHA-256, synchronously and alike in each runtime. Two plain hashes cost a fifth of an Hmac object of
 * `node:crypto`, and salts are derived for every leaf of the log.
 */
export function hmacSha256(key: Uint8Array, data: Uint8Array): Uint8Array {
  const short = key.length > BLOCK_LENGTH ? sha256Sync(key) : key
  const inner = sha256Sync(padded(short, 0x36, data))
  return sha256Sync(padded(short, 0x5c, inner))
}

function padded(key: Uint8Array, pad: number, data: Uint8Array): Uint8Array {
  const bytes = new Uint8Array(BLOCK_LENGTH + data.length).fill(pad, 0, BLOCK_LENGTH)
  for (let at = 0; at < key.length; at++) bytes[at] = (key[at] ?? 0) ^ pad
  bytes.set(data, BLOCK_LENGTH)
  return bytes
}
