import type { ObjectType } from '@agent-exchange/protocol'

/** What is done to the example of a type: values set and a member removed, each at a JSON pointer. */
export interface Mutation {
  readonly name: string
  readonly type: ObjectType
  readonly set?: Readonly<Record<string, unknown>>
  readonly remove?: string
}

export interface Fault extends Mutation {
  readonly rule: string
  /** Where a validator should point; for a missing member, where it belongs. */
  readonly pointer: string
  readonly description: string
}

/** A fault of one value, at the place where a validator should point. */
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

/** The longest tail that an identifier may have. */
export const LONGEST_TAIL = 'a'.repeat(128)
