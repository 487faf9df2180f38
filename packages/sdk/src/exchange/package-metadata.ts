import { canonicalBytes } from '@agent-exchange/crypto'
import type { PackageMetadata } from '@agent-exchange/protocol'

/**
 * Additional authenticated data of the sealed content (O-17, ours): the metadata without two members. The digest
 * covers the sealed content and cannot be inside; the mode may change without sealing again.
 */
export function boundMetadata(
  metadata: Omit<PackageMetadata, 'content_digest' | 'transport_mode'>,
): Uint8Array {
  const { content_digest: _, transport_mode: __, ...bound } = metadata as PackageMetadata
  return canonicalBytes(bound)
}
