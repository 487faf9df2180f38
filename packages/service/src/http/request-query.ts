import {
  operations,
  toJson,
  validatorFor,
  type JsonObject,
  type Operation,
  type OperationId,
  type Validator,
} from '@agent-exchange/protocol'
import { Problem } from '../kernel/problem.ts'

const INTEGER = /^-?\d{1,15}$/
const validators = new Map<OperationId, Validator<unknown>>()

/** Parses and validates the query parameters of an operation. Integers are converted where the schema expects one. */
export function readQuery(id: OperationId, given: Record<string, unknown>): Record<string, unknown> {
  const { query }: Operation = operations[id]
  // Unknown parameters are ignored.
  if (!query) return {}
  const schema = toJson(query) as JsonObject & { properties: Record<string, JsonObject> }
  const read = Object.fromEntries(
    Object.keys(schema.properties)
      .filter((name) => given[name] !== undefined)
      .map((name) => [name, typed(given[name], schema.properties[name])]),
  )
  let validator = validators.get(id)
  if (!validator) validators.set(id, (validator = validatorFor(schema, 'API-06')))
  const failures = validator(read)
  if (failures.length > 0) throw new Problem('validation_failed', { failures })
  return read
}

function typed(value: unknown, schema: JsonObject | undefined): unknown {
  return schema?.['type'] === 'integer' && typeof value === 'string' && INTEGER.test(value)
    ? Number(value)
    : value
}
