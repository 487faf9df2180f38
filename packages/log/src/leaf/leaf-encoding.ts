import { sha256Sync } from '@agent-exchange/crypto'
import { uint64, utf8 } from '../bytes.ts'
import { LogError } from '../errors.ts'

/** Every hash input of the leaf format starts with one of these, so that no two kinds can be confused. */
export const TAG = {
  salt: 'agent-exchange/log/v1/salt',
  recordLabel: 'agent-exchange/log/v1/record-label',
  recordCommitment: 'agent-exchange/log/v1/record-commitment',
  keyLabel: 'agent-exchange/log/v1/key-label',
  keyCommitment: 'agent-exchange/log/v1/key-commitment',
  originLabel: 'agent-exchange/log/v1/origin-label',
  originCommitment: 'agent-exchange/log/v1/origin-commitment',
  chainStart: 'agent-exchange/log/v2/chain-start',
  link: 'agent-exchange/log/v2/link',
  chainRecordLabel: 'agent-exchange/log/v2/record-label',
  chainRecordCommitment: 'agent-exchange/log/v2/record-commitment',
} as const

export const LABEL_LENGTH = 32
/** Label, then commitment. The tags in their hash inputs tell versions apart. */
export const LEAF_LENGTH = 64

const LENGTH_BYTES = 4

type Field = string | number | Uint8Array

/** Each field after its length in four bytes, so that no two lists of fields have the same encoding. */
export function encodeFields(tag: string, fields: readonly Field[]): Uint8Array {
  const values = [tagBytes(tag)]
  let length = LENGTH_BYTES + (values[0]?.length ?? 0)
  for (const field of fields) {
    const value = bytesOf(field)
    values.push(value)
    length += LENGTH_BYTES + value.length
  }
  const bytes = new Uint8Array(length)
  let at = 0
  for (const value of values) {
    bytes[at] = value.length >>> 24
    bytes[at + 1] = value.length >>> 16
    bytes[at + 2] = value.length >>> 8
    bytes[at + 3] = value.length
    bytes.set(value, at + LENGTH_BYTES)
    at += LENGTH_BYTES + value.length
  }
  return bytes
}

/** Tags are few; each record of the exchange needs three. */
const encodedTags = new Map(Object.values(TAG).map((tag) => [tag as string, utf8(tag)]))
const tagBytes = (tag: string) => encodedTags.get(tag) ?? utf8(tag)

export function hashFields(tag: string, fields: readonly Field[]): Uint8Array {
  return sha256Sync(encodeFields(tag, fields))
}

/** Text is UTF-8, a number takes eight bytes, the highest first. */
function bytesOf(field: Field): Uint8Array {
  if (typeof field === 'string') {
    if (!field.isWellFormed()) throw new LogError('leaf_field')
    return utf8(field)
  }
  if (typeof field !== 'number') return field
  if (!Number.isSafeInteger(field) || field < 0) throw new LogError('leaf_field')
  return uint64(field)
}

export function requireLength(bytes: Uint8Array | undefined, length: number): Uint8Array {
  if (bytes?.length !== length) throw new LogError('leaf_field')
  return bytes
}
