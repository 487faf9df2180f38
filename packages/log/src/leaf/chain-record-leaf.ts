import { concatBytes } from '../bytes.ts'
import { LogError } from '../errors.ts'
import { HASH_LENGTH } from '../merkle/tree-hash.ts'
import { hashFields, requireLength, TAG } from './leaf-encoding.ts'
import { readDigest, rOfSignature } from './package-identity.ts'
import type { RecordSubject } from './record-leaf.ts'
import { SALT_LENGTH } from './salt.ts'

/**
 * A record of version 2: consecutive entries of the chain of one package. The exchange commits to the chain before the
 * record and to the chain up to its end.
 */
export interface ChainRecordContent {
  readonly firstPosition: number
  readonly lastPosition: number
  /** Of the entry before the first; `chainStart` for the first record of a package. */
  readonly linkBefore: Uint8Array
  readonly lastLink: Uint8Array
}

export function chainRecordLabel(subject: RecordSubject): Uint8Array {
  const { packageId, contentDigest, receiptSignature, firstPosition } = subject
  if (firstPosition < 1) throw new LogError('leaf_field')
  const [digest, r] = [readDigest(contentDigest), rOfSignature(receiptSignature)]
  return hashFields(TAG.chainRecordLabel, [packageId, digest, r, firstPosition])
}

export function chainRecordCommitment(record: ChainRecordContent, salt: Uint8Array): Uint8Array {
  const { firstPosition, lastPosition, linkBefore, lastLink } = record
  if (firstPosition < 1 || lastPosition < firstPosition) throw new LogError('leaf_field')
  return hashFields(TAG.chainRecordCommitment, [
    requireLength(salt, SALT_LENGTH),
    firstPosition,
    lastPosition,
    requireLength(linkBefore, HASH_LENGTH),
    requireLength(lastLink, HASH_LENGTH),
  ])
}

/** The log entry of a record of version 2. Its label has another tag than that of version 1. */
export function chainRecordLeaf(record: RecordSubject & ChainRecordContent, salt: Uint8Array): Uint8Array {
  return concatBytes(chainRecordLabel(record), chainRecordCommitment(record, salt))
}
