import { canonicalBytes, canonicalize } from '@agent-exchange/crypto'
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

/** Names of members that differ between two objects. A missing member differs from any value. */
export function differingMembers(left: object, right: object): string[] {
  const names = new Set([...Object.keys(left), ...Object.keys(right)])
  return [...names].filter((name) => textOf(left, name) !== textOf(right, name)).toSorted()
}

function textOf(object: object, name: string): string | undefined {
  const value: unknown = Object.hasOwn(object, name) ? Reflect.get(object, name) : undefined
  return value === undefined ? undefined : canonicalize(value)
}
