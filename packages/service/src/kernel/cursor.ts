import { createHmac, timingSafeEqual, type KeyObject } from 'node:crypto'
import { CryptoError, decodeBase64url, encodeBase64url } from '@agent-exchange/crypto'
import { Problem } from './problem.ts'

/** RFC 2104 section 5: half of the hash is enough, and keeps cursors short. */
const MAC_BYTES = 16
const MAXIMUM_CURSOR_CHARACTERS = 4_096

/**
 * A cursor is the end of a page with a MAC, so that no client can make or alter one (API-06). `listing` names the list,
 * its reader and its filter: a cursor of one listing is invalid in another.
 *
 * @example
 * const next = makeCursor(context.macKey, `listNotifications ${organizationId}`, lastSequence)
 */
export function makeCursor(secret: KeyObject, listing: string, position: string | number): string {
  const text = String(position)
  return encodeBase64url(Buffer.concat([macOf(secret, listing, text), Buffer.from(text)]))
}

/** The position in a cursor of this listing; anything else is `cursor_invalid`. */
export function readCursor(secret: KeyObject, listing: string, cursor: string): string {
  const bytes = decode(cursor)
  const position = Buffer.from(bytes.subarray(MAC_BYTES)).toString()
  const expected = macOf(secret, listing, position)
  const given = bytes.subarray(0, MAC_BYTES)
  if (given.length !== MAC_BYTES || !timingSafeEqual(given, expected)) throw new Problem('cursor_invalid')
  return position
}

function macOf(secret: KeyObject, listing: string, position: string): Buffer {
  // As JSON, so that listing and position cannot run into each other.
  const message = JSON.stringify([listing, position])
  return createHmac('sha256', secret).update(message).digest().subarray(0, MAC_BYTES)
}

function decode(cursor: string): Uint8Array {
  if (cursor.length > MAXIMUM_CURSOR_CHARACTERS) throw new Problem('cursor_invalid')
  try {
    return decodeBase64url(cursor)
  } catch (error) {
    if (error instanceof CryptoError) throw new Problem('cursor_invalid')
    throw error
  }
}
