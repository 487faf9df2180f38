import { problemDetails } from '../problem-details.ts'
import type { DeploymentProfile } from '../profile/profile.ts'
import { notificationEnvelope } from '../resources/notifications.ts'
import {
  namesReachedFrom,
  schemaNamed,
  toJson,
  type Json,
  type JsonObject,
  type Named,
} from '../schema/define.ts'
import { MEDIA_TYPE } from '../wire.ts'
import type { Operation } from './operation.ts'
import { OPERATION_IDS, operations } from './operations.ts'
import { withRequestLimits } from './request-limits.ts'

/** Every schema that the document refers to; request schemas include the limits of this deployment. */
export function componentSchemas(profile: DeploymentProfile): JsonObject {
  const rows: Operation[] = OPERATION_IDS.map((id) => operations[id])
  const requests = rows.flatMap(({ request }) => (request ? [request] : []))
  const answers = [problemDetails, notificationEnvelope, ...rows.map(({ success }) => success.body)]
  const sent = new Set(requests.flatMap((schema) => namesReachedFrom(schema)))
  return schemasReachedFrom([...requests, ...answers], (name, schema) =>
    sent.has(name) ? withRequestLimits(name, schema, profile['O-14']) : schema,
  )
}

/** These schemas and all that they refer to, by name. */
export function schemasReachedFrom(
  roots: readonly Named<unknown>[],
  limited: (name: string, schema: JsonObject) => JsonObject = (_name, schema) => schema,
): JsonObject {
  const names = new Set(roots.flatMap((schema) => namesReachedFrom(schema)))
  return Object.fromEntries(
    [...names]
      .toSorted()
      .map((name) => [name, toComponentReferences(asText(limited(name, toJson(schemaNamed(name)))))]),
  )
}

/**
 * Times are signed as text, but generated clients convert the format date-time to a date type. The format is omitted
 * where a pattern defines the same values.
 */
function asText(schema: JsonObject): JsonObject {
  if (schema['format'] !== 'date-time' || !('pattern' in schema)) return schema
  const { format: _format, ...text } = schema
  return text
}

/** `examples` are values by name. */
export function jsonContent(schema: JsonObject, examples: JsonObject): JsonObject {
  const named = Object.entries(examples).map(([name, value]) => [name, { value }] as const)
  return { [MEDIA_TYPE.json]: { schema, examples: Object.fromEntries(named) } }
}

export function reference(name: string, section = 'schemas'): JsonObject {
  return { $ref: `#/components/${section}/${name}` }
}

/**
 * Named schemas refer to each other as `#/$defs/…`; in OpenAPI they are under components. Keywords next to a reference
 * move into a wrapper, because client generators ignore them there.
 */
export function toComponentReferences(value: Json): Json {
  if (Array.isArray(value)) return value.map(toComponentReferences)
  if (value === null || typeof value !== 'object') return value
  const { $ref: target, ...beside } = value
  const rest = Object.fromEntries(
    Object.entries(beside).map(([member, inner]) => [member, toComponentReferences(inner)]),
  )
  if (typeof target !== 'string') return rest
  const moved = { $ref: target.replace('#/$defs/', '#/components/schemas/') }
  return Object.keys(rest).length === 0 ? moved : { allOf: [moved], ...rest }
}
