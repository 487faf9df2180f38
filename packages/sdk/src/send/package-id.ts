import { canonicalBytes, parseDigest, sha256Digest } from '@agent-exchange/crypto'
import type { ProtocolObject } from '@agent-exchange/protocol'
import type { AgentAddress, Identity } from '../context.ts'
import { isAnswerable } from '../objects/answered-id.ts'

const ID_BYTES = 16

/**
 * PKG-09: the package id of an object. A reasoning package uses its own id. For any other object the id is derived
 * from ids alone: a repeated call finds the same package, and the id reveals no content.
 */
export async function packageIdFor(
  sender: Identity,
  { id, trace }: ProtocolObject,
  recipient: AgentAddress,
): Promise<string> {
  if (isAnswerable(id)) return id
  const parts = [sender.organizationId, sender.agentId, recipient.agentId, id, trace.idempotency_key]
  const digest = parseDigest(await sha256Digest(canonicalBytes(parts)))
  const hex = Array.from(digest.subarray(0, ID_BYTES), (byte) => byte.toString(16).padStart(2, '0'))
  return `pkg_${hex.join('')}`
}
