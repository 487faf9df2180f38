import { toJson, validatorFor } from '@agent-exchange/protocol'
import {
  fromJsonSchema,
  type JsonSchemaValidator,
  type StandardSchemaWithJSON,
} from '@modelcontextprotocol/server'
import type { TSchema } from 'typebox'

const SHOWN_FAILURES = 10

/** A TypeBox schema for the MCP library. Validated by the validator of the protocol, whose messages name what to do. */
export function mcpSchema<T>(schema: TSchema): StandardSchemaWithJSON<T, T> {
  const document = toJson(schema)
  const validate = validatorFor<T>(document, 'MCP')
  const check: JsonSchemaValidator<unknown> = (input) => {
    const failures = validate(input, { nameUnknownMembers: true })
    if (failures.length === 0) return { valid: true, data: input, errorMessage: undefined }
    const lines = failures
      .slice(0, SHOWN_FAILURES)
      .map(({ pointer, message }) => `${pointer === '' ? 'arguments' : pointer}: ${message}`)
    return { valid: false, data: undefined, errorMessage: lines.join(' ') }
  }
  return fromJsonSchema<T>(document, {
    getValidator: <Value>(): JsonSchemaValidator<Value> => check as JsonSchemaValidator<Value>,
  })
}
