import { createHmac } from 'node:crypto'
import { equalsInConstantTime } from './constant-time.ts'

/** Name of the hidden form field. */
export const CSRF_FIELD = 'csrf_token'

const MINIMUM_KEY_BYTES = 32

/**
 * Synchronizer token bound to one session: an HMAC of the session id, so that replicas agree without storing it.
 * Another site can neither read it from the page nor make one for the victim's session.
 */
export function csrfToken(key: Uint8Array, sessionId: string): string {
  if (key.byteLength < MINIMUM_KEY_BYTES)
    throw new TypeError(`a CSRF key has at least ${MINIMUM_KEY_BYTES} bytes`)
  if (sessionId === '') throw new TypeError('a CSRF token needs a session')
  return createHmac('sha256', key).update('csrf\0').update(sessionId).digest('base64url')
}

/** `given` is the form field as it arrived: absent, repeated or of any length. */
export function isCsrfToken(key: Uint8Array, sessionId: string, given: unknown): boolean {
  return typeof given === 'string' && equalsInConstantTime(given, csrfToken(key, sessionId))
}
