import type { TObjectOptions } from 'typebox'

/** The keywords `if` and `then` of JSON Schema. */
export function ifThen(condition: object, consequence: object): TObjectOptions {
  // oxlint-disable-next-line unicorn/no-thenable -- a schema, which nobody awaits
  return { if: condition, then: consequence }
}
