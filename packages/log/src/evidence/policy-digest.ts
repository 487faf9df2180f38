import { canonicalBytes, sha256Digest } from '@agent-exchange/crypto'
import type { PolicyEnvelope } from '@agent-exchange/protocol'

/** O-41: SHA-256 over RFC 8785 of the whole policy_envelope. */
export function policyDigest(policy: PolicyEnvelope): Promise<string> {
  return sha256Digest(canonicalBytes(policy))
}
