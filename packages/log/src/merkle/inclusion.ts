import { bytesEqual } from '@agent-exchange/crypto'
import { LogError } from '../errors.ts'
import { nodeHash, requireHashes, requireSizes } from './tree-hash.ts'

export interface InclusionClaim {
  readonly index: number
  readonly size: number
  readonly root: Uint8Array
  readonly leafHash: Uint8Array
  readonly proof: readonly Uint8Array[]
}

/** RFC 9162 section 2.1.3.2. Throws a LogError where the claim does not hold. */
export function verifyInclusion({ index, size, root, leafHash, proof }: InclusionClaim): void {
  requireSizes(index, size)
  requireHashes(root, leafHash, ...proof)
  if (index >= size) throw new LogError('inclusion_index')
  let [node, last, hash] = [index, size - 1, leafHash]
  for (const sibling of proof) {
    if (last === 0) throw new LogError('inclusion_length')
    if (node % 2 === 1 || node === last) {
      hash = nodeHash(sibling, hash)
      // A node without a right sibling moves up until it is a right child.
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)]
    } else {
      hash = nodeHash(hash, sibling)
    }
    ;[node, last] = [Math.floor(node / 2), Math.floor(last / 2)]
  }
  if (last !== 0) throw new LogError('inclusion_length')
  if (!bytesEqual(hash, root)) throw new LogError('inclusion_root')
}
