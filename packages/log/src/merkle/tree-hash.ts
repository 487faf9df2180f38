import { sha256Sync } from '@agent-exchange/crypto'
import { LogError } from '../errors.ts'

export const HASH_LENGTH = 32

/** RFC 9162 section 2.1.1: the root of a tree without leaves. */
export const EMPTY_ROOT: Uint8Array = sha256Sync(new Uint8Array())

/** RFC 9162 section 2.1.1: domain separation keeps a node from being mistaken for a leaf. */
export function leafHash(entry: Uint8Array): Uint8Array {
  const input = new Uint8Array(1 + entry.length)
  input.set(entry, 1)
  return sha256Sync(input)
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  const input = new Uint8Array(1 + 2 * HASH_LENGTH)
  input[0] = 1
  input.set(left, 1)
  input.set(right, 1 + HASH_LENGTH)
  return sha256Sync(input)
}

/** Sizes and indexes beyond the exact integers are refused before any arithmetic. */
export function requireSizes(...values: readonly number[]): void {
  if (!values.every((value) => Number.isSafeInteger(value) && value >= 0)) throw new LogError('size_invalid')
}

export function requireHashes(...hashes: readonly Uint8Array[]): void {
  if (!hashes.every(({ length }) => length === HASH_LENGTH)) throw new LogError('hash_invalid')
}

/** The root over perfect subtrees that lie side by side, the largest first. */
export function foldSubtrees(hashes: readonly Uint8Array[]): Uint8Array {
  return (
    hashes.reduceRight<Uint8Array | undefined>(
      (right, left) => (right === undefined ? left : nodeHash(left, right)),
      undefined,
    ) ?? EMPTY_ROOT
  )
}
