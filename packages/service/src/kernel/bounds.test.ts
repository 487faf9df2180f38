import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { JsonValue } from '@agent-exchange/crypto'
import {
  createProfile,
  openApiDocument,
  operationExamples,
  OPERATION_IDS,
  operations,
  pointerTo,
  type JsonObject,
  type Operation,
} from '@agent-exchange/protocol'
import { boundFailures, isLongerThan } from './bounds.ts'

const created = createProfile({ 'O-14': { identifier_characters: 150, text_characters: 400 } })
assert.ok(created.ok)
const { profile } = created
const { schemas } = (openApiDocument({ profile }) as { components: { schemas: Record<string, JsonObject> } })
  .components

/** Resolves references, direct or in `allOf`. */
function resolved(schema: JsonObject): JsonObject {
  const [first] = (schema['allOf'] ?? []) as JsonObject[]
  const target = schema['$ref'] ?? first?.['$ref']
  return typeof target === 'string' ? resolved(schemas[target.split('/').at(-1) ?? ''] ?? {}) : schema
}

type Leaf = { readonly path: readonly string[]; readonly limit: number | undefined }

/** Every string of a body, with the maximum length that the OpenAPI document states for it. */
function* textsIn(value: JsonValue, given: JsonObject, path: readonly string[] = []): Generator<Leaf> {
  const schema = resolved(given)
  if ('const' in schema || 'enum' in schema) return
  if (typeof value === 'string') yield { path, limit: schema['maxLength'] as number | undefined }
  if (typeof value !== 'object' || value === null) return
  const properties = (schema['properties'] ?? {}) as Record<string, JsonObject>
  for (const [name, inner] of Object.entries(value)) {
    const part = properties[name] ?? schema['items'] ?? schema['additionalProperties']
    yield* textsIn(inner, part as JsonObject, [...path, name])
  }
}

function replaced(body: JsonValue, [name, ...rest]: readonly string[], text: string): JsonValue {
  if (name === undefined) return text
  const copy = structuredClone(body) as Record<string, JsonValue>
  copy[name] = replaced(copy[name] ?? null, rest, text)
  return copy
}

test('[O-14][API-02] the OpenAPI document and the service have the same limit for every string of a request', () => {
  let tried = 0
  for (const id of OPERATION_IDS) {
    const { request }: Operation = operations[id]
    // A native envelope has its own rules; the size of the request limits it.
    const forms = Object.entries(operationExamples[id].requests ?? {}).filter(([name]) => name !== 'native')
    for (const [form, example] of request ? forms : []) {
      const body = example as JsonValue
      const name = form === 'ds_x' ? 'DsxPackageBody' : (request?.$ref.split('/').at(-1) ?? '')
      for (const { path, limit } of textsIn(body, { $ref: `#/components/schemas/${name}` })) {
        const label = `${id} ${path.join('/')}`
        assert.ok(limit !== undefined, label)
        assert.deepEqual(boundFailures(replaced(body, path, '\u{1f69a}'.repeat(limit)), profile), [], label)
        const failures = boundFailures(replaced(body, path, '\u{1f69a}'.repeat(limit + 1)), profile)
        const isMap = path.includes('skill_versions')
        const pointer = (isMap ? path.slice(0, -1) : path).reduce(pointerTo, '')
        assert.deepEqual(
          failures.map((failure) => [failure.rule, failure.pointer]),
          [['O-14', pointer]],
          label,
        )
        tried += 1
      }
    }
  }
  assert.ok(tried > 60, String(tried))
})

test('[O-14] the length of a string is its number of code points', () => {
  for (const [text, maximum, longer] of [
    ['abc', 3, false],
    ['abcd', 3, true],
    ['\u{1f69a}\u{1f69a}\u{1f69a}', 3, false],
    ['\u{1f69a}\u{1f69a}ab', 3, true],
  ] as const)
    assert.equal(isLongerThan(text, maximum), longer, text)
})
