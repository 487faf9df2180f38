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
} as const

export const LABEL_LENGTH = 32
/** A leaf of version 1: label, then commitment. */
export const LEAF_LENGTH = 64

const LENGTH_BYTES = 4

type Field = string | number | Uint8Array

/** Each field after its length in four bytes, so that no two lists of fields have the same encoding. */
export function encodeFields(tag: string, fields: readonly Field[]): Uint8Array {
  const values = [tag, ...fields].map(bytesOf)
  const bytes = new Uint8Array(values.reduce((length, value) => length + LENGTH_BYTES + value.length, 0))
  const view = new DataView(bytes.buffer)
  let at = 0
  for (const value of values) {
    view.setUint32(at, value.length)
    bytes.set(value, at + LENGTH_BYTES)
    at += LENGTH_BYTES + value.length
  }
  return bytes
}

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
