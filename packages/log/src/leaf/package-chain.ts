import { canonicalize, sha256Sync } from '@agent-exchange/crypto'
import { utf8 } from '../bytes.ts'
import { LogError } from '../errors.ts'
import { HASH_LENGTH } from '../merkle/tree-hash.ts'
import { hashFields, requireLength, TAG } from './leaf-encoding.ts'
import type { Visibility } from './one-sided-kinds.ts'
import { readDigest, rOfSignature, type PackageIdentity } from './package-identity.ts'

/** The chain of one package (version 2). Its positions count from 1. */
export interface ChainSubject extends PackageIdentity {
  readonly threadId: string
}

/** What the content of an entry is: the audit event, where there is one, and the proof. */
export interface EntryContent {
  readonly event?: object | undefined
  readonly proof: object
}

/** What the chain commits to for each entry. Whoever may not read the body still verifies the link. */
export interface ChainedEntry {
  readonly position: number
  readonly kind: string
  readonly visibility: Visibility
  /** Of `bodyHash`. */
  readonly bodyHash: Uint8Array
}

/** Link 0: it binds every later link to the package, its thread, its content and its policy receipt. */
export function chainStart(subject: ChainSubject): Uint8Array {
  const [digest, r] = [readDigest(subject.contentDigest), rOfSignature(subject.receiptSignature)]
  return hashFields(TAG.chainStart, [subject.packageId, subject.threadId, digest, r])
}

/** The hashed text of an entry: RFC 8785 of its event and proof. */
export function entryBody({ event, proof }: EntryContent): string {
  return canonicalize({ event, proof })
}

export function bodyHash(body: string): Uint8Array {
  return sha256Sync(utf8(body))
}

/** The link of an entry: the hash of the whole chain up to it. */
export function nextLink(
  previous: Uint8Array,
  { position, kind, visibility, bodyHash: hash }: ChainedEntry,
): Uint8Array {
  if (position < 1) throw new LogError('leaf_field')
  return hashFields(TAG.link, [
    requireLength(previous, HASH_LENGTH),
    position,
    kind,
    visibility,
    requireLength(hash, HASH_LENGTH),
  ])
}
