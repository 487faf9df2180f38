import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { Validator } from '@seriousme/openapi-schema-validator'
import { OPEN_POINT } from '../schema/annotations.ts'
import type { Json, JsonObject } from '../schema/define.ts'
import { OPEN_POINT_IDS } from '../profile/open-points.ts'
import { createProfile } from '../profile/profile.ts'
import { openApiDocument } from './openapi.ts'
import { OPERATION_IDS } from './operations.ts'

const document = openApiDocument()

/** Every object in a JSON value, with its member name. */
function* objectsIn(value: Json, name = ''): Generator<[string, JsonObject]> {
  if (Array.isArray(value)) for (const item of value) yield* objectsIn(item, name)
  else if (value !== null && typeof value === 'object') {
    yield [name, value]
    for (const [member, inner] of Object.entries(value)) yield* objectsIn(inner, member)
  }
}

const everyObject = [...objectsIn(document)]

test('[API-02] the document is valid OpenAPI 3.1.1, version 1.0.0, with exactly the 21 operations', async () => {
  const result = await new Validator().validate(structuredClone(document))
  assert.ok(result.valid, JSON.stringify(result))
  assert.equal(document['openapi'], '3.1.1')
  assert.equal((document['info'] as JsonObject)['version'], '1.0.0')
  const ids = everyObject.flatMap(([, object]) =>
    typeof object['operationId'] === 'string' ? [object['operationId']] : [],
  )
  assert.deepEqual(ids.toSorted(), OPERATION_IDS.toSorted())
})

test('[API-02] every reference resolves inside the document, and every component is used', () => {
  const targets = new Set<string>()
  for (const [, { $ref: target }] of everyObject) if (typeof target === 'string') targets.add(target)
  const components = document['components'] as Record<string, JsonObject>
  const defined = Object.entries(components).flatMap(([section, entries]) =>
    section === 'securitySchemes'
      ? []
      : Object.keys(entries).map((name) => `#/components/${section}/${name}`),
  )
  assert.deepEqual([...targets].toSorted(), defined.toSorted())
})

test('[API-02] every x-open-point names an entry of the profile', () => {
  const ids = everyObject.flatMap(([, object]) => {
    const note = object[OPEN_POINT]
    return typeof note === 'string' ? note.split(' ') : []
  })
  assert.ok(ids.length > 40)
  assert.deepEqual(
    ids.filter((id) => !(OPEN_POINT_IDS as string[]).includes(id)),
    [],
  )
})

test('[API-03][AUTH-01] each operation requires its headers and a token, with mutual TLS as an alternative', () => {
  assert.deepEqual(document['security'], [{ oauth2: [], mutualTLS: [] }, { oauth2: [] }])
  for (const [method, operation] of everyObject.filter(([, object]) => 'operationId' in object)) {
    const headers = new Set((operation['parameters'] as JsonObject[]).map((parameter) => parameter['$ref']))
    assert.ok(headers.has('#/components/parameters/correlationId'))
    assert.equal(headers.has('#/components/parameters/idempotencyKey'), method === 'post')
  }
})

test('[API-02][AUTH-02][O-30] a deployment that requires mutual TLS says so, without an alternative', () => {
  const result = createProfile({ 'O-30': { require_mutual_tls: true } })
  assert.ok(result.ok)
  assert.deepEqual(openApiDocument({ profile: result.profile })['security'], [{ oauth2: [], mutualTLS: [] }])
})

test('[API-02] the published file is this document', () => {
  const published = readFileSync(new URL('../../openapi.json', import.meta.url), 'utf8')
  assert.deepEqual(JSON.parse(published), document)
})

test('[API-02] overrides of a deployment appear in its document', () => {
  const result = createProfile({ 'O-39': { header_characters: 64 } })
  assert.ok(result.ok)
  const { components } = openApiDocument({ profile: result.profile }) as {
    components: { parameters: Record<string, { schema: { maxLength: number } }> }
  }
  assert.deepEqual(
    Object.values(components.parameters).map(({ schema }) => schema.maxLength),
    [64, 64],
  )
})
