import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  openApiDocument,
  OPERATION_IDS,
  operations,
  validatorOf,
  type JsonObject,
  type Operation,
} from '@agent-exchange/protocol'

/** Loads a browser module directly; modules that do not touch the DOM run in Node too. */
async function load<T>(name: string): Promise<T> {
  return (await import(new URL(`../../../assets/reference/${name}`, import.meta.url).href)) as T
}

type Schema = Record<string, unknown>
type Parameter = { name: string; in: 'header' | 'path' | 'query' }
type Call = { path: string; parameters: Parameter[]; values: Map<string, string>; body?: string }

const facts = await load<{
  resolve(description: JsonObject, schema: Schema): Schema
  nameOf(schema: Schema): string | undefined
  typeOf(description: JsonObject, schema: Schema): string
  rulesOf(schema: Schema): { text: string; code?: string[] }[]
  partsOf(description: JsonObject, schema: Schema): { name: string; schema: Schema; required: boolean }[]
}>('schema-facts.js')
const { examplesOf } = await load<{
  examplesOf(description: JsonObject, content: Schema | undefined): { name: string; text: string }[]
}>('examples.js')
const request = await load<{
  addressOf(call: Call): string
  headersOf(call: Call): [string, string][]
  curlLine(call: Call & { method: string; base: string }): string
  randomUuid(): string
}>('request.js')

const description = openApiDocument()
interface Described {
  requestBody?: { content: Record<string, Schema> }
  responses: Record<string, { content: Record<string, Schema> }>
}
const paths = description['paths'] as unknown as Record<string, Record<string, Described>>

test('the initial body of a form is valid for every operation and each of its variants', () => {
  let tried = 0 // ten mutations, two of them with two forms
  for (const id of OPERATION_IDS) {
    const { request: body, path, method }: Operation = operations[id]
    const content = paths[path]?.[method.toLowerCase()]?.requestBody?.content['application/json']
    for (const { text } of examplesOf(description, content)) {
      assert.ok(body, id)
      assert.deepEqual(validatorOf(body)(JSON.parse(text)), [], id)
      tried += 1
    }
  }
  assert.equal(tried, 12)
  assert.deepEqual(examplesOf(description, undefined), [])
})

test('the example of a problem is found through its reference', () => {
  const answers = paths['/v1/agents/{agent_id}']?.['get']?.responses['404']?.content
  const [example] = examplesOf(description, answers?.['application/problem+json'])
  assert.equal(example?.name, 'resource_not_found')
  assert.equal((JSON.parse(example.text) as { status: number }).status, 404)
})

test('a reference inside an annotation keeps its name and its rules', () => {
  const noted = { allOf: [{ $ref: '#/components/schemas/digest' }], 'x-open-point': 'O-23' }
  assert.equal(facts.nameOf(noted), 'digest')
  const digest = facts.resolve(description, noted)
  assert.deepEqual([digest['type'], digest['x-open-point']], ['string', 'O-23'])
})

test('the schema of encoded content can be expanded', () => {
  const body = { $ref: '#/components/schemas/NativePackageBody' }
  const payload = facts.partsOf(description, body).find(({ name }) => name === 'payload')
  const [decoded] = facts.partsOf(description, payload?.schema ?? {})
  assert.deepEqual([decoded?.name, facts.nameOf(decoded?.schema ?? {})], ['decoded', 'ExchangeEnvelope'])
})

test('keywords beside a reference are merged into the referenced schema', () => {
  const narrower = { type: 'object', properties: { code: { enum: ['rate_limited'] } } }
  const schema = { allOf: [{ $ref: '#/components/schemas/Problem' }, narrower] }
  const code = facts.partsOf(description, schema).find(({ name }) => name === 'code')
  assert.deepEqual(code?.schema['enum'], ['rate_limited'])
  assert.equal(code?.schema['x-open-point'], 'O-11')
  assert.ok(facts.partsOf(description, schema).some(({ name }) => name === 'correlation_id'))
})

test('a schema is described in words', () => {
  const keys = { type: 'array', minItems: 1, items: { $ref: '#/components/schemas/PublicKey' } }
  assert.equal(facts.typeOf(description, keys), 'array of PublicKey')
  assert.equal(facts.typeOf(description, { anyOf: [{ type: 'string' }, { type: 'null' }] }), 'string or null')
  assert.deepEqual(facts.rulesOf(keys), [{ text: 'at least 1 entries' }])
  assert.deepEqual(facts.rulesOf({ type: 'string', minLength: 1, 'x-values-in-use': ['active'] }), [
    { text: 'not empty' },
    { text: 'in use, not a closed list:', code: ['active'] },
  ])
  assert.deepEqual(facts.rulesOf({ type: 'integer', minimum: 1, maximum: 9, default: 5 }), [
    { text: 'at least 1' },
    { text: 'at most 9' },
    { text: 'default 5' },
  ])
  const described = { pattern: 'a'.repeat(81), description: 'in words' }
  assert.deepEqual(facts.rulesOf(described), [])
  assert.equal(facts.rulesOf({ ...described, pattern: 'a' }).length, 1)
})

const call: Call & { method: string; base: string } = {
  method: 'POST',
  base: 'https://exchange.example/',
  path: '/v1/agents/{agent_id}/keys',
  parameters: [
    { name: 'X-Correlation-ID', in: 'header' },
    { name: 'agent_id', in: 'path' },
    { name: 'after', in: 'query' },
    { name: 'limit', in: 'query' },
  ],
  values: new Map([
    ['X-Correlation-ID', 'c-1'],
    ['agent_id', "a/b?c'"],
    ['after', 'x&y'],
    ['limit', ''],
  ]),
  body: `{"text":"it's"}`,
}

test('a request fills in its path and leaves out empty parameters', () => {
  assert.equal(request.addressOf(call), `/v1/agents/a%2Fb%3Fc'/keys?after=x%26y`)
  const json = ['Content-Type', 'application/json']
  assert.deepEqual(request.headersOf(call), [['X-Correlation-ID', 'c-1'], json])
})

test('[ERR-02] the curl command is quoted and uses $TOKEN instead of the token', () => {
  assert.equal(
    request.curlLine(call),
    [
      `curl -X POST 'https://exchange.example/v1/agents/a%2Fb%3Fc'\\''/keys?after=x%26y'`,
      '-H "Authorization: Bearer $TOKEN"',
      `-H 'X-Correlation-ID: c-1'`,
      `-H 'Content-Type: application/json'`,
      `--data-binary '{"text":"it'\\''s"}'`,
    ].join(' \\\n  '),
  )
})

test('ids are version 4 UUIDs', () => {
  const made = Array.from({ length: 100 }, () => request.randomUuid())
  assert.equal(new Set(made).size, made.length)
  for (const id of made) assert.match(id, /^[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[89ab][\da-f]{3}-[\da-f]{12}$/u)
})
