import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createProfile } from '../profile/profile.ts'
import { namesReachedFrom, type Json, type JsonObject } from '../schema/define.ts'
import { openApiDocument } from './openapi.ts'
import type { Operation } from './operation.ts'
import { OPERATION_IDS, operations } from './operations.ts'

const LIMITS = {
  identifier_characters: 201,
  resource_id_characters: 180,
  text_characters: 300,
  list_items: 50,
  object_members: 70,
  registration_keys: 5,
}
const PAGES = {
  'O-07': { default_limit: 7, maximum_limit: 70 },
  'O-15': { default_limit: 15, maximum_limit: 150 },
  'O-40': { default_limit: 40, maximum_limit: 400 },
}
const created = createProfile({ 'O-14': LIMITS, ...PAGES })
assert.ok(created.ok)
const document = openApiDocument({ profile: created.profile }) as unknown as {
  paths: Record<string, Record<string, { parameters: { name: string; in: string; schema: JsonObject }[] }>>
  components: { schemas: Record<string, JsonObject>; parameters: Record<string, { schema: JsonObject }> }
}
const { schemas, parameters } = document.components

const sent = new Set(
  OPERATION_IDS.flatMap((id) => {
    const { request }: Operation = operations[id]
    return request ? namesReachedFrom(request) : []
  }),
)

/** Every schema inside a named schema, with its member name. */
function* partsOf(schema: JsonObject, member: string): Generator<[member: string, JsonObject]> {
  yield [member, schema]
  for (const [name, inner] of Object.entries((schema['properties'] ?? {}) as Record<string, JsonObject>))
    yield* partsOf(inner, name)
  for (const keyword of ['items', 'additionalProperties'])
    if (typeof schema[keyword] === 'object') yield* partsOf(schema[keyword] as JsonObject, `${member}[]`)
}

const isFixed = (schema: JsonObject) => 'const' in schema || 'enum' in schema

test('[O-14][API-02] every string, list and map of a request has the limit of the profile', () => {
  const seen = new Map<string, Json | undefined>()
  for (const name of sent) {
    for (const [member, part] of partsOf(schemas[name] ?? {}, '')) {
      if (isFixed(part)) continue
      const place = `${name} ${member}`
      if (part['type'] === 'string') seen.set(place, part['maxLength'])
      if (part['type'] === 'array') seen.set(place, part['maxItems'])
    }
  }
  const unlimited = [...seen].flatMap(([place, limit]) => (limit === undefined ? [place] : []))
  // Members of a JWK that are not stored.
  assert.deepEqual(
    unlimited.map((place) => place.split(' ')[0]),
    unlimited.map(() => 'PublicJwkInput'),
  )
  const expected: [string, number][] = [
    ['AgentRegistrationRequest implementation', LIMITS.identifier_characters],
    ['AgentRegistrationRequest protocol_versions', LIMITS.list_items],
    ['AgentRegistrationRequest keys', LIMITS.registration_keys],
    ['PolicyReceipt statement', LIMITS.text_characters],
    ['PolicyReceipt checks', 5],
    ['PackageRevocationRequest reason_detail', LIMITS.text_characters],
    ['KeyRevocationRequest evidence_reference', LIMITS.text_characters],
    ['WebhookEndpointRequest url', LIMITS.text_characters],
    ['PublicJwkInput x', LIMITS.identifier_characters],
    ['NativePackageBody payload', created.profile['O-14'].request_bytes],
    ['timestamp ', LIMITS.identifier_characters],
    ['resourceId ', LIMITS.resource_id_characters],
  ]
  for (const [place, limit] of expected) assert.equal(seen.get(place), limit, place)
  const map = ((schemas['AgentRegistrationRequest'] ?? {})['properties'] as JsonObject)[
    'skill_versions'
  ] as JsonObject
  assert.equal(map['maxProperties'], LIMITS.object_members)
  assert.equal((map['propertyNames'] as JsonObject)['maxLength'], LIMITS.identifier_characters)
})

test('[API-06][API-02] a list has the default and the maximum of its open point', () => {
  const limitOf = (path: string) =>
    document.paths[path]?.['get']?.parameters.find(({ name }) => name === 'limit')?.schema ?? {}
  for (const [path, id] of [
    ['/v1/skills', 'O-15'],
    ['/v1/notifications', 'O-15'],
    ['/v1/threads/{thread_id}', 'O-40'],
    ['/v1/audit/threads/{thread_id}', 'O-07'],
    ['/v1/audit/packages/{package_id}', 'O-07'],
  ] as const) {
    const { minimum, maximum, default: usual, 'x-open-point': point } = limitOf(path)
    const { default_limit, maximum_limit } = PAGES[id]
    assert.deepEqual([minimum, maximum, usual, point], [1, maximum_limit, default_limit, id], path)
  }
})

test('[O-39][O-14] headers are visible ASCII, and path parameters have a length', () => {
  for (const { schema } of Object.values(parameters)) {
    const visible = new RegExp(schema['pattern'] as string, 'u')
    assert.deepEqual(
      ['a', '!~', 'a b', 'é', 'a\n', ''].map((value) => visible.test(value)),
      [true, true, false, false, false, false],
    )
  }
  const inPath = Object.values(document.paths)
    .flatMap((methods) => Object.values(methods))
    .flatMap((operation) => operation.parameters.filter((parameter) => parameter.in === 'path'))
  assert.ok(inPath.length > 10)
  for (const { name, schema } of inPath) {
    const isResource = ['package_id', 'policy_receipt_id'].includes(name)
    const limit = isResource ? undefined : LIMITS.identifier_characters
    assert.equal(schema['maxLength'], limit, name)
    assert.equal(schema['$ref'], isResource ? '#/components/schemas/resourceId' : undefined, name)
  }
})

test('[API-02] no reference has sibling keywords, which client generators ignore', () => {
  const beside: string[] = []
  JSON.stringify(document, (name, value: unknown) => {
    if (typeof value === 'object' && value !== null && '$ref' in value && Object.keys(value).length > 1)
      beside.push(name)
    return value
  })
  assert.deepEqual(beside, [])
})

test('[PKG-01][PKG-02] members of a JWS and a JWE are base64url without padding and unused bits', () => {
  const { properties } = schemas['NativePackageBody'] as { properties: Record<string, JsonObject> }
  const takes = (member: string, text: string) =>
    new RegExp(properties[member]?.['pattern'] as string, 'u').test(text) &&
    text.length >= Number(properties[member]?.['minLength'] ?? 0)
  for (const text of ['AA', 'AAA', 'AAAA', 'e30', '-_8']) assert.ok(takes('payload', text), text)
  for (const text of ['', 'A', 'AB', 'AAB', 'AAAAA', 'AA==', 'A+', 'A A'])
    assert.ok(!takes('payload', text), text)
  assert.ok(takes('signature', `${'-'.repeat(85)}A`))
  for (const text of [`${'-'.repeat(85)}B`, 'A'.repeat(85), 'A'.repeat(87), 'AAAA'])
    assert.ok(!takes('signature', text), text)
})
