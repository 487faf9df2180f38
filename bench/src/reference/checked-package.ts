import {
  importPublicJwk,
  matchContentDigest,
  parseEnvelope,
  verifyEnvelope,
  type PublicJwk,
  type PublicKey,
} from '@agent-exchange/crypto'
import type { PackageMetadata, PackageResource } from '@agent-exchange/protocol'

/** Public signing keys by agent. */
export type KeyList = readonly { readonly agentId: string; readonly jwk: PublicJwk }[]

export interface CheckedPackage {
  readonly metadata: PackageMetadata
  readonly signingKeyId: string
  readonly recipientKeyIds: readonly string[]
  readonly bytes: Uint8Array
}

/** The minimum checks of a package: parse, verify, recompute the digest. */
export async function packageChecker(keyList: KeyList) {
  const keys = new Map<string, PublicKey>()
  for (const { agentId, jwk } of keyList) keys.set(agentId, await importPublicJwk(jwk))
  return async (bytes: Uint8Array, organizationId: string): Promise<CheckedPackage> => {
    const envelope = parseEnvelope(bytes)
    const metadata = envelope.metadata as PackageMetadata
    const key = keys.get(metadata.sender_agent_id)
    if (!key || metadata.sender_org_id !== organizationId) throw new Error('not the sender')
    await verifyEnvelope(envelope, key)
    if (!(await matchContentDigest(envelope, metadata.content_digest))) throw new Error('wrong digest')
    const recipientKeyIds = envelope.jwe.recipients.map(({ header }) => header.kid)
    return { metadata, signingKeyId: envelope.kid, recipientKeyIds, bytes }
  }
}

/** A response like that of the service. */
export function resourceOf(metadata: PackageMetadata, now: string, base: string): PackageResource {
  return {
    package_id: metadata.package_id,
    thread_id: metadata.thread_id,
    transport_mode: 'native',
    state: 'accepted',
    created_at: now,
    updated_at: now,
    metadata,
    ciphertext_download_url: `${base}/content/packages/${metadata.package_id}`,
  }
}
