import { CryptoError, parseStrictJson } from '@agent-exchange/crypto'
import {
  namesReachedFrom,
  resourceId,
  schemaNamed,
  toJson,
  validatorFor,
  validatorOf,
  type Json,
  type JsonObject,
  type Validator,
} from '@agent-exchange/protocol'
import type { TObject } from 'typebox'
import { GatewayProblem } from '../problems.ts'
import type { GatewayOperation } from './operations.ts'

const isId = (text: string) => validatorOf(resourceId)(text).length === 0

/** Text that no id can be is refused here: PostgreSQL would fail at a NUL. */
export function readPath(params: Readonly<Record<string, string>>): Record<string, string> {
  if (!Object.values(params).every(isId)) throw new GatewayProblem('resource_not_found')
  // Canonicalization needs a plain object; the router's has no prototype.
  return { ...params }
}

/** Parses and validates the body of an operation. */
export function readBody({ request }: GatewayOperation, bytes: Buffer | undefined): unknown {
  if (!request) return undefined
  const body = parsed(bytes)
  const failures = validatorOf(request)(body)
  if (failures.length > 0) throw new GatewayProblem('validation_failed', { failures })
  return body
}

/** Strict JSON, which rules out ambiguous input. An empty body is an empty object. */
function parsed(bytes: Buffer | undefined): unknown {
  if (bytes === undefined || bytes.length === 0) return {}
  try {
    return parseStrictJson(bytes)
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error
    throw new GatewayProblem('malformed_request', { reason: error.code }, { cause: error })
  }
}

const INTEGER = /^-?\d{1,15}$/u
const validators = new WeakMap<object, Validator<unknown>>()

/** Parses and validates the query parameters of an operation. Unknown parameters are ignored. */
export function readQuery(
  { query }: GatewayOperation,
  given: Record<string, unknown>,
): Record<string, unknown> {
  if (!query) return {}
  const document = documentOf(query)
  const read = Object.fromEntries(
    Object.entries(document['properties'] as JsonObject)
      .filter(([name]) => given[name] !== undefined)
      .map(([name, schema]) => [name, typed(given[name], schema)]),
  )
  let validator = validators.get(query)
  if (!validator) validators.set(query, (validator = validatorFor(document, 'API-06')))
  const failures = validator(read)
  if (failures.length > 0) throw new GatewayProblem('validation_failed', { failures })
  return read
}

/** The schema with the named ones that it refers to. */
function documentOf(query: TObject): JsonObject {
  const reached = namesReachedFrom(query).map((name) => [name, toJson(schemaNamed(name))] as const)
  return { ...toJson(query), ...(reached.length > 0 && { $defs: Object.fromEntries(reached) }) }
}

function typed(value: unknown, schema: Json): unknown {
  const type = (schema as JsonObject)['type']
  if (type === 'integer' && typeof value === 'string' && INTEGER.test(value)) return Number(value)
  if (type === 'boolean' && (value === 'true' || value === 'false')) return value === 'true'
  return value
}
