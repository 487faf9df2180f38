import assert from 'node:assert/strict'
import { test } from 'node:test'
import { receiptDifferences } from '../policy-binding.ts'
import { problemDetails, type ProblemDetails } from '../problem-details.ts'
import { PROBLEM_CODES, problems } from '../problems.ts'
import { createProfile } from '../profile/profile.ts'
import type { Json, JsonObject, Named } from '../schema/define.ts'
import { validatorFor, validatorOf, type Validator } from '../validation/validator.ts'
import { metadata, nativeResponse } from './examples/packages.ts'
import { policyReceipt } from './examples/policy-receipts.ts'
import { openApiDocument } from './openapi.ts'
import { problemsOf, type Operation } from './operation.ts'
import { OPERATION_IDS, operations } from './operations.ts'

interface Content {
  readonly schema: JsonObject
  readonly examples: Readonly<Record<string, { $ref?: string; value: Json }>>
}
interface Described {
  readonly requestBody?: { content: { 'application/json': Content } }
  readonly responses: Readonly<Record<string, { content: Readonly<Record<string, Content>> }>>
}
interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Described>>>>
  readonly components: {
    schemas: JsonObject
    examples: Readonly<Record<string, { value: Json }>>
    pathItems: {
      packageNotification: { post: JsonObject & { requestBody: { content: Record<string, Content> } } }
    }
  }
}

const document = openApiDocument() as unknown as Document

function describedAs(id: (typeof OPERATION_IDS)[number]): Described {
  const { path, method }: Operation = operations[id]
  const described = document.paths[path]?.[method.toLowerCase()]
  assert.ok(described, id)
  return described
}

const compiled = new Map<string, Validator<unknown>>()

/** Validates by the schema of the document, including the limits of the deployment. */
function fitsDocument({ schema }: Content, value: Json): boolean {
  const key = JSON.stringify(schema)
  const validator = compiled.get(key) ?? compile(schema)
  compiled.set(key, validator)
  return validator.accepts(value)
}

function compile(schema: JsonObject): Validator<unknown> {
  const text = JSON.stringify({ ...schema, $defs: document.components.schemas })
  const standalone = JSON.parse(text.replaceAll('#/components/schemas/', '#/$defs/')) as JsonObject
  return validatorFor(standalone, 'API-02')
}

function assertExample(content: Content | undefined, schema: Named<unknown>, label: string): void {
  const examples = Object.entries(content?.examples ?? {})
  assert.ok(content && examples.length > 0, `${label} has no example`)
  for (const [name, { value }] of examples) {
    assert.deepEqual(validatorOf(schema)(value), [], `${label} ${name}`)
    assert.ok(fitsDocument(content, value), `${label} ${name} by the document`)
  }
}

test('[API-02] every request and every success has a valid example', () => {
  for (const id of OPERATION_IDS) {
    const { request, success }: Operation = operations[id]
    const { requestBody, responses } = describedAs(id)
    if (request) assertExample(requestBody?.content['application/json'], request, `${id} request`)
    assertExample(responses[success.status]?.content['application/json'], success.body, `${id} answer`)
  }
})

test('[API-02][ERR-01] every problem of an operation has an example under its status', () => {
  for (const id of OPERATION_IDS) {
    const shown = Object.entries(describedAs(id).responses).flatMap(([status, { content }]) =>
      Object.entries(content['application/problem+json']?.examples ?? {}).map(([name, { $ref }]) => {
        assert.equal($ref, `#/components/examples/${name}`)
        const value = document.components.examples[name]?.value as ProblemDetails
        assert.deepEqual(validatorOf(problemDetails)(value), [], name)
        assert.deepEqual([value.code, String(value.status)], [name, status])
        assert.ok(
          fitsDocument(content['application/problem+json'] as Content, value as unknown as Json),
          name,
        )
        return name
      }),
    )
    assert.deepEqual(shown.toSorted(), problemsOf(operations[id]).toSorted(), id)
  }
})

test('[API-02] a problem schema that is limited to some codes rejects other codes', () => {
  const { content } = describedAs('getAgent').responses['404'] ?? { content: {} }
  const problem = document.components.examples['resource_not_found']?.value as JsonObject
  const narrowed = content['application/problem+json'] as Content
  assert.ok(fitsDocument(narrowed, problem))
  for (const code of PROBLEM_CODES.filter((other) => problems[other].status !== 404))
    assert.ok(!fitsDocument(narrowed, { ...problem, code }), code)
})

test('[EVT-02][EVT-05] the webhook is described with its signature headers, an example and the response 204, and is no operation', () => {
  const { post } = document.components.pathItems.packageNotification
  assert.ok(!('operationId' in post))
  assert.deepEqual(post['security'], [])
  const names = (post['parameters'] as JsonObject[]).map(({ name }) => name)
  const signed = ['svc-delivery-id', 'svc-event-id', 'svc-delivery-attempt']
  assert.deepEqual(names, ['Content-Digest', 'Signature-Input', 'Signature', ...signed])
  for (const parameter of post['parameters'] as JsonObject[])
    assert.ok(validatorFor(parameter['schema'] as JsonObject, 'EVT-05').accepts(parameter['example']))
  const content = post.requestBody.content['application/json']
  assert.ok(content && fitsDocument(content, content.examples['example']?.value ?? null))
  assert.ok('204' in (post['responses'] as JsonObject))
})

test('[POL-04] the examples are consistent: the policy receipt covers the package, and the response refers to it', () => {
  assert.deepEqual(receiptDifferences(policyReceipt, metadata), [])
  const payload = JSON.parse(Buffer.from(nativeResponse.payload, 'base64url').toString()) as {
    metadata: typeof metadata
  }
  const { responds_to_package_id, thread_id, sender_org_id } = payload.metadata
  assert.deepEqual(
    [responds_to_package_id, thread_id, sender_org_id],
    [metadata.package_id, metadata.thread_id, metadata.recipient_org_id],
  )
})

test('[API-02] examples have the URLs of the exchange that serves them', () => {
  const created = createProfile({ 'O-11': { problem_base: 'https://problems.example/p' } })
  assert.ok(created.ok)
  const options = { baseUrl: 'https://ours.example', profile: created.profile }
  const text = JSON.stringify(openApiDocument(options))
  assert.ok(!text.includes('exchange.example'))
  assert.ok(text.includes('https://ours.example/content/packages/'))
  assert.ok(text.includes('https://problems.example/p/resource-not-found'))
})
