import { isIP } from 'node:net'
import { ApprovalProblem } from './approval-problem.ts'

/** The WebAuthn relying party: passkeys are bound to its id, answers to its origin. */
export interface RelyingParty {
  readonly id: string
  readonly origin: string
}

/** Undefined where browsers offer no passkeys: an IP address is no relying party id, and plain http is no secure context. */
export function findRelyingParty(publicUrl: string): RelyingParty | undefined {
  const { hostname, origin, protocol } = new URL(publicUrl)
  const isAddress = isIP(hostname.replace(/^\[|\]$/gu, '')) !== 0
  const isLocal = hostname === 'localhost' || hostname.endsWith('.localhost')
  return isAddress || (protocol !== 'https:' && !isLocal) ? undefined : { id: hostname, origin }
}

export function relyingPartyOf(publicUrl: string): RelyingParty {
  const found = findRelyingParty(publicUrl)
  if (!found) throw new ApprovalProblem('passkeys_unavailable')
  return found
}
