import { leafHash, nodeHash, EMPTY_ROOT } from './tree-hash.ts'

/** RFC 9162 section 2.1 written down as it reads: slow, and independent of tiles. */
export function referenceRoot(leaves: readonly Uint8Array[]): Uint8Array {
  if (leaves.length === 0) return EMPTY_ROOT
  const [first] = leaves
  if (leaves.length === 1 && first) return leafHash(first)
  const split = splitAt(leaves.length)
  return nodeHash(referenceRoot(leaves.slice(0, split)), referenceRoot(leaves.slice(split)))
}

export function referenceInclusion(index: number, leaves: readonly Uint8Array[]): Uint8Array[] {
  if (leaves.length <= 1) return []
  const split = splitAt(leaves.length)
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)]
  return index < split
    ? [...referenceInclusion(index, left), referenceRoot(right)]
    : [...referenceInclusion(index - split, right), referenceRoot(left)]
}

export function referenceConsistency(
  oldSize: number,
  leaves: readonly Uint8Array[],
  isWhole = true,
): Uint8Array[] {
  if (oldSize === leaves.length) return isWhole ? [] : [referenceRoot(leaves)]
  const split = splitAt(leaves.length)
  const [left, right] = [leaves.slice(0, split), leaves.slice(split)]
  return oldSize <= split
    ? [...referenceConsistency(oldSize, left, isWhole), referenceRoot(right)]
    : [...referenceConsistency(oldSize - split, right, false), referenceRoot(left)]
}

function splitAt(length: number): number {
  let split = 1
  while (split * 2 < length) split *= 2
  return split
}

/** Leaves that differ: the number of each in its text. */
export function numberedLeaves(count: number): Uint8Array[] {
  return Array.from({ length: count }, (_, index) => new TextEncoder().encode(`leaf ${index}`))
}
