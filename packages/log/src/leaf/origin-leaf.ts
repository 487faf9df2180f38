import { concatBytes } from '../bytes.ts'
import { HASH_LENGTH } from '../merkle/tree-hash.ts'
import type { Checkpoint } from '../notes/checkpoint.ts'
import { hashFields, requireLength, TAG } from './leaf-encoding.ts'

/**
 * The log entry with which a log under a new origin commits to the last checkpoint of its predecessor. It has no salt,
 * since it holds nothing secret.
 */
export function originLeaf(origin: string, previous: Checkpoint): Uint8Array {
  return concatBytes(
    hashFields(TAG.originLabel, [origin]),
    hashFields(TAG.originCommitment, [
      origin,
      previous.origin,
      previous.size,
      requireLength(previous.root, HASH_LENGTH),
    ]),
  )
}
