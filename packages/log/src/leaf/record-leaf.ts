import { concatBytes, fromHex } from '../bytes.ts'
import { LogError } from '../errors.ts'
import { HASH_LENGTH } from '../merkle/tree-hash.ts'
import { hashFields, requireLength, TAG } from './leaf-encoding.ts'
import { readDigest, rOfSignature, type PackageIdentity } from './package-identity.ts'
import { SALT_LENGTH } from './salt.ts'

/** What labels a record. */
export interface RecordSubject extends PackageIdentity {
  readonly firstPosition: number
}

/** What the exchange commits to: consecutive entries of a thread's chain, and the hash before them. */
export interface RecordContent {
  readonly threadId: string
  readonly firstPosition: number
  readonly lastPosition: number
  /** In hexadecimal; null for the first entry of the thread. */
  readonly previousHash: string | null
  /** In hexadecimal, one for each position. */
  readonly entryHashes: readonly string[]
}

export function recordLabel({
  packageId,
  contentDigest,
  receiptSignature,
  firstPosition,
}: RecordSubject): Uint8Array {
  const [digest, r] = [readDigest(contentDigest), rOfSignature(receiptSignature)]
  return hashFields(TAG.recordLabel, [packageId, digest, r, firstPosition])
}

export function recordCommitment(record: RecordContent, salt: Uint8Array): Uint8Array {
  const { threadId, firstPosition, lastPosition, previousHash, entryHashes } = record
  if (firstPosition < 1 || entryHashes.length !== lastPosition - firstPosition + 1)
    throw new LogError('leaf_field')
  const previous = previousHash === null ? new Uint8Array() : readHash(previousHash)
  return hashFields(TAG.recordCommitment, [
    requireLength(salt, SALT_LENGTH),
    threadId,
    firstPosition,
    lastPosition,
    previous,
    joinedHashes(entryHashes),
  ])
}

/** The log entry of an audit record. */
export function recordLeaf(record: RecordSubject & RecordContent, salt: Uint8Array): Uint8Array {
  return concatBytes(recordLabel(record), recordCommitment(record, salt))
}

/** In a loop: a record may have more entries than a call may have arguments. */
function joinedHashes(hashes: readonly string[]): Uint8Array {
  const joined = new Uint8Array(hashes.length * HASH_LENGTH)
  for (const [at, hash] of hashes.entries()) joined.set(readHash(hash), at * HASH_LENGTH)
  return joined
}

function readHash(text: string): Uint8Array {
  return requireLength(fromHex(text), HASH_LENGTH)
}
