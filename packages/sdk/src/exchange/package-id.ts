import { canonicalBytes, parseDigest, sha256Digest } from '@agent-exchange/crypto'
import type { ProtocolObject } from '@agent-exchange/protocol'
import type { Identity } from '../context.ts'
import type { AgentAddress } from './send-input.ts'

/** A response_object names what it answers by an id of this prefix, so every package of ours has it. */
const ANSWERABLE = 'pkg_'
const ID_BYTES = 16

/**
 * PKG-09: the id under which an object travels. A reasoning package travels under its own id. For any other object the id
 * is derived from ids alone, so a repeated call finds the same package and nobody can guess content from it.
 */
export async function packageIdFor(
  sender: Identity,
  { id, trace }: ProtocolObject,
  recipient: AgentAddress,
): Promise<string> {
  if (id.startsWith(ANSWERABLE)) return id
  const parts = [sender.organizationId, sender.agentId, recipient.agentId, id, trace.idempotency_key]
  const digest = parseDigest(await sha256Digest(canonicalBytes(parts)))
  const hex = Array.from(digest.subarray(0, ID_BYTES), (byte) => byte.toString(16).padStart(2, '0'))
  return `${ANSWERABLE}${hex.join('')}`
}
