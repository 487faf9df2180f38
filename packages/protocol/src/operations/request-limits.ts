import type { DeploymentProfile } from '../profile/profile.ts'
import type { Json, JsonObject } from '../schema/define.ts'

/** Members that contain a sentence or a URL; they may be longer than names (O-14). */
export const FREE_TEXT_MEMBERS: ReadonlySet<string> = new Set([
  'statement',
  'reason_detail',
  'evidence_reference',
  'url',
])

/** Members with the id of a package, policy receipt or receipt (O-14). */
export const RESOURCE_ID_MEMBERS: ReadonlySet<string> = new Set([
  'package_id',
  'policy_receipt_id',
  'receipt_id',
  'responds_to_package_id',
])

/** Stored members of a public JWK (ID-06); the limits of strings do not apply to other members. */
export const STORED_JWK_MEMBERS: ReadonlySet<string> = new Set(['kty', 'crv', 'x', 'y'])

/** The list of keys has its own limit, because parsing a key costs as much as verifying a signature. */
const KEYS = 'keys'
const PUBLIC_JWK_INPUT = 'PublicJwkInput'
const RESOURCE_ID = 'resourceId'
/** PostgreSQL cannot store NUL. */
const STORABLE = '^[^\\u0000]*$'

type Limits = DeploymentProfile['O-14']

/** Operations whose body carries a package. */
const PACKAGE_OPERATIONS = new Set(['createPackageTransfer', 'createPackageResponse'])

/** O-14: the maximum size of the body of an operation. */
export function maximumBodyBytes(operationId: string, { request_bytes, control_bytes }: Limits): number {
  return PACKAGE_OPERATIONS.has(operationId) ? request_bytes : Math.min(request_bytes, control_bytes)
}

/** O-14: a named schema with the request limits of this deployment. */
export function withRequestLimits(name: string, schema: JsonObject, limits: Limits): JsonObject {
  return limited(schema, { limits, schemaName: name }, '')
}

interface Place {
  readonly limits: Limits
  readonly schemaName: string
}

function limited(schema: JsonObject, place: Place, member: string): JsonObject {
  return { ...schema, ...rules(schema, place, member) }
}

function within(schema: Json | undefined, place: Place, member: string): Json {
  const isObject = typeof schema === 'object' && schema !== null && !Array.isArray(schema)
  return isObject ? limited(schema, place, member) : (schema ?? true)
}

function rules(schema: JsonObject, place: Place, member: string): JsonObject {
  const { limits, schemaName } = place
  if ('const' in schema || 'enum' in schema) return {}
  if (schema['type'] === 'string')
    return schemaName === PUBLIC_JWK_INPUT && !STORED_JWK_MEMBERS.has(member)
      ? {}
      : text(schema, member, place)
  if (schema['type'] === 'array') {
    const most = member === KEYS ? limits.registration_keys : limits.list_items
    const items = within(schema['items'], place, member)
    return { maxItems: Math.min(Number(schema['maxItems'] ?? most), most), items }
  }
  return schema['type'] === 'object' ? object(schema, place) : {}
}

function text(schema: JsonObject, member: string, place: Place): JsonObject {
  const hasForm = 'pattern' in schema || 'format' in schema
  return {
    maxLength: longest(schema, member, place),
    ...(!hasForm && { pattern: STORABLE }),
  }
}

function longest(schema: JsonObject, member: string, { limits, schemaName }: Place): number {
  if (schemaName === RESOURCE_ID) return limits.resource_id_characters
  if ('contentEncoding' in schema) return limits.request_bytes
  return FREE_TEXT_MEMBERS.has(member) ? limits.text_characters : limits.identifier_characters
}

function object(schema: JsonObject, place: Place): JsonObject {
  const { limits } = place
  const properties = Object.entries((schema['properties'] ?? {}) as JsonObject).map(
    ([name, inner]) => [name, within(inner, place, name)] as const,
  )
  const map = schema['additionalProperties']
  return {
    ...('properties' in schema && { properties: Object.fromEntries(properties) }),
    ...(map !== false && { maxProperties: limits.object_members }),
    ...(typeof map === 'object' && {
      additionalProperties: within(map, place, ''),
      propertyNames: { maxLength: limits.identifier_characters, pattern: STORABLE },
    }),
  }
}
