import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto'
import { CHALLENGE_MS } from './approval-limits.ts'
import { ApprovalProblem } from './approval-problem.ts'

/**
 * Challenges of sign-ins, which anybody can ask for: nonce, end and MAC, so that asking stores nothing. A verified answer
 * is noted, and counts once.
 */

const TAG = 'aex-passkey-sign-in/1'
const NONCE_BYTES = 16
const END_BYTES = 8
const MAC_BYTES = 32

const macOf = (key: Uint8Array, claims: Uint8Array) =>
  createHmac('sha256', key).update(TAG).update(claims).digest()

export function newSignInChallenge(key: Uint8Array, now: Date): Uint8Array<ArrayBuffer> {
  const end = Buffer.alloc(END_BYTES)
  end.writeBigUInt64BE(BigInt(now.getTime() + CHALLENGE_MS))
  const claims = Buffer.concat([randomBytes(NONCE_BYTES), end])
  return new Uint8Array(Buffer.concat([claims, macOf(key, claims)]))
}

/** When the challenge ends. Fails with `challenge_unknown` if it is not one of this gateway, or has ended. */
export function endOfSignInChallenge(key: Uint8Array, challenge: string, now: Date): Date {
  const bytes = Buffer.from(challenge, 'base64url')
  const claims = bytes.subarray(0, NONCE_BYTES + END_BYTES)
  const mac = bytes.subarray(claims.length)
  // The MAC is over bytes: another spelling of them would be noted as another challenge.
  const isCanonical = bytes.toString('base64url') === challenge
  if (!isCanonical || mac.length !== MAC_BYTES || !timingSafeEqual(mac, macOf(key, claims)))
    throw new ApprovalProblem('challenge_unknown')
  const end = new Date(Number(claims.readBigUInt64BE(NONCE_BYTES)))
  if (end.getTime() <= now.getTime()) throw new ApprovalProblem('challenge_unknown')
  return end
}
