import type { ProfileName } from '../profiles/index.ts'
import type { InvalidVector, ValidVector, Vector } from '../vector-file.ts'

/** The content of one vector file. */
export interface Generated {
  readonly profile: ProfileName
  readonly description: string
  readonly references: readonly string[]
  readonly vectors: readonly Vector[]
}

export function valid(name: string, description: string, input: object, output: object): ValidVector {
  return { name, description, input, expect: 'valid', output }
}

export interface Broken {
  readonly rule: string
  readonly code: string
}

export function invalid(name: string, description: string, input: object, broken: Broken): InvalidVector {
  const { rule, code } = broken
  return { name, description, input, expect: 'invalid', rule, code }
}

export function base64url(bytes: Uint8Array | string): string {
  return Buffer.from(bytes).toString('base64url')
}

export function fromBase64url(text: string): Uint8Array {
  return Uint8Array.from(Buffer.from(text, 'base64url'))
}

/** The same bytes with one bit of the first byte flipped. */
export function flipped(text: string): string {
  const bytes = fromBase64url(text)
  return base64url(bytes.with(0, (bytes[0] ?? 0) ^ 1))
}
