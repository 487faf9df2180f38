import { bytesEqual } from '@agent-exchange/crypto'
import { LogError } from '../errors.ts'
import { EMPTY_ROOT, nodeHash, requireHashes, requireSizes } from './tree-hash.ts'

export interface ConsistencyClaim {
  readonly oldSize: number
  readonly oldRoot: Uint8Array
  readonly newSize: number
  readonly newRoot: Uint8Array
  readonly proof: readonly Uint8Array[]
}

/**
 * RFC 9162 section 2.1.4.2. Throws a LogError where the new tree does not continue the old one. Every tree continues
 * the empty one (C2SP tlog-witness starts there), so an old size of 0 needs an empty proof and the empty root.
 */
export function verifyConsistency({ oldSize, oldRoot, newSize, newRoot, proof }: ConsistencyClaim): void {
  requireSizes(oldSize, newSize)
  requireHashes(oldRoot, newRoot, ...proof)
  if (oldSize > newSize) throw new LogError('consistency_sizes')
  if (oldSize === 0 && !bytesEqual(oldRoot, EMPTY_ROOT)) throw new LogError('consistency_empty_tree')
  if (oldSize === 0 || oldSize === newSize) {
    if (proof.length > 0) throw new LogError('consistency_length')
    if (oldSize === newSize && !bytesEqual(oldRoot, newRoot)) throw new LogError('consistency_new_root')
    return
  }
  const path = isPowerOfTwo(oldSize) ? [oldRoot, ...proof] : proof
  let [node, last] = [oldSize - 1, newSize - 1]
  while (node % 2 === 1) [node, last] = [Math.floor(node / 2), Math.floor(last / 2)]
  const [first, ...rest] = path
  if (first === undefined) throw new LogError('consistency_length')
  let [oldHash, newHash] = [first, first]
  for (const sibling of rest) {
    if (last === 0) throw new LogError('consistency_length')
    if (node % 2 === 1 || node === last) {
      oldHash = nodeHash(sibling, oldHash)
      newHash = nodeHash(sibling, newHash)
      while (node % 2 === 0 && node !== 0) [node, last] = [node / 2, Math.floor(last / 2)]
    } else {
      newHash = nodeHash(newHash, sibling)
    }
    ;[node, last] = [Math.floor(node / 2), Math.floor(last / 2)]
  }
  if (last !== 0) throw new LogError('consistency_length')
  if (!bytesEqual(oldHash, oldRoot)) throw new LogError('consistency_old_root')
  if (!bytesEqual(newHash, newRoot)) throw new LogError('consistency_new_root')
}

function isPowerOfTwo(value: number): boolean {
  let odd = value
  while (odd % 2 === 0) odd /= 2
  return odd === 1
}
