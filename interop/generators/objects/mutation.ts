import type { ObjectType } from '@agent-exchange/protocol'

/** Changes to the example of a type: values to set and a member to remove, each at a JSON pointer. */
export interface Mutation {
  readonly name: string
  readonly type: ObjectType
  readonly set?: Readonly<Record<string, unknown>>
  readonly remove?: string
}

export interface Fault extends Mutation {
  readonly rule: string
  /** The expected pointer; for a missing member, its location. */
  readonly pointer: string
  readonly description: string
}

/** A fault of one value, at the expected pointer. */
export type FaultyValue = readonly [
  rule: string,
  name: string,
  type: ObjectType,
  pointer: string,
  value: unknown,
  description: string,
]

export function faultOf([rule, name, type, pointer, value, description]: FaultyValue): Fault {
  return { rule, name, type, pointer, description, set: { [pointer]: value } }
}

/** The longest allowed suffix of an identifier. */
export const LONGEST_TAIL = 'a'.repeat(128)
