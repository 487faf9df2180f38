import {
  API_DESCRIPTION_VERSION,
  MEDIA_TYPE,
  nameOf,
  namesReachedFrom,
  pathParameters,
  schemaNamed,
  toJson,
  type Json,
  type JsonObject,
  type Named,
} from '@agent-exchange/protocol'
import { gatewayProblems, GATEWAY_PROBLEM_CODES, type GatewayProblemCode } from '../problems.ts'
import { operationExamples } from './openapi-examples.ts'
import {
  GATEWAY_OPERATION_IDS,
  gatewayOperations,
  problemsOf,
  type GatewayOperation,
  type GatewayOperationId,
} from './operations.ts'
import { problemDocument as problemSchema } from './schemas.ts'

const ROWS: readonly GatewayOperation[] = GATEWAY_OPERATION_IDS.map((id) => gatewayOperations[id])

/** The OpenAPI 3.1.1 document of the gateway, derived from the operations table and the named schemas. */
export function gatewayOpenApi(publicUrl: string): JsonObject {
  const paths: Record<string, JsonObject> = {}
  for (const id of GATEWAY_OPERATION_IDS) {
    const operation = gatewayOperations[id]
    ;(paths[operation.path] ??= {})[operation.method.toLowerCase()] = describe(id, operation)
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Agent Exchange Gateway',
      version: API_DESCRIPTION_VERSION,
      summary: "The interface of a company's gateway for its own systems",
      description:
        'Draft, send and receive sealed packages from any language. The gateway seals, signs, opens and verifies. No system can approve: what a policy reserves for a person waits for one.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: publicUrl }],
    security: [{ apiKey: [] }, { token: [] }],
    tags: [
      { name: 'drafts', description: 'Packages before they are sealed' },
      { name: 'packages', description: 'What was sent and received, with evidence' },
      { name: 'inbox', description: 'Packages that wait for a system: leases with a visibility timeout' },
    ],
    paths,
    components: {
      securitySchemes: {
        apiKey: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'aexg_…',
          description:
            'An API key of the gateway: aex gateway system add. It permits its verbs for its agents.',
        },
        token: {
          type: 'http',
          scheme: 'bearer',
          bearerFormat: 'JWT',
          description:
            "An access token of the company's identity provider. Scopes: aex:VERB, and aex:agent:ID or aex:agent:*.",
        },
      },
      examples: Object.fromEntries(
        GATEWAY_PROBLEM_CODES.map((code) => [
          code,
          { summary: gatewayProblems[code].title, value: problemExample(code, publicUrl) },
        ]),
      ),
      schemas: componentSchemas(),
    },
  }
}

/** Where the problem is explained: its example in the document, which the gateway serves. */
export const problemType = (publicUrl: string, code: GatewayProblemCode) =>
  `${publicUrl}/openapi.json#/components/examples/${code}`

function problemExample(code: GatewayProblemCode, publicUrl: string): JsonObject {
  const { title, status, retryable, advice } = gatewayProblems[code]
  return {
    type: problemType(publicUrl, code),
    title,
    status,
    code,
    correlation_id: 'corr_1',
    retryable,
    details: { advice },
  }
}

function componentSchemas(): JsonObject {
  const roots = [
    problemSchema,
    ...ROWS.flatMap(({ request, success, accepted }) => [request, success.body, accepted]).filter(
      (schema) => schema !== undefined,
    ),
  ]
  const names = new Set(roots.flatMap((schema) => namesReachedFrom(schema)))
  return Object.fromEntries(
    [...names].toSorted().map((name) => [name, toComponents(toJson(schemaNamed(name)))]),
  )
}

const reference = (schema: Named<unknown>): JsonObject => ({ $ref: `#/components/schemas/${nameOf(schema)}` })

/** Keywords next to a reference move into a wrapper, because client generators ignore them there. */
function toComponents(value: Json): Json {
  if (Array.isArray(value)) return value.map(toComponents)
  if (value === null || typeof value !== 'object') return value
  const { $ref: target, ...beside } = value
  const rest = Object.fromEntries(Object.entries(beside).map(([name, inner]) => [name, toComponents(inner)]))
  if (typeof target !== 'string') return rest
  const moved = { $ref: target.replace('#/$defs/', '#/components/schemas/') }
  return Object.keys(rest).length === 0 ? moved : { allOf: [moved], ...rest }
}

function describe(id: GatewayOperationId, operation: GatewayOperation): JsonObject {
  const { request, success, accepted, summary, area, verb } = operation
  const examples = operationExamples[id]
  const codes = problemsOf(operation)
  const statuses = [...new Set(codes.map((code) => gatewayProblems[code].status))].toSorted((a, b) => a - b)
  const answer = (schema: Named<unknown>, description: string, example: JsonObject) => ({
    description,
    content: { [MEDIA_TYPE.json]: { schema: reference(schema), examples: { example: { value: example } } } },
  })
  return {
    operationId: id,
    summary,
    description: `Needs the verb \`${verb}\`.`,
    tags: [area],
    parameters: parametersOf(operation),
    ...(request && {
      requestBody: {
        required: true,
        content: {
          [MEDIA_TYPE.json]: {
            schema: reference(request),
            examples: { example: { value: examples.request ?? {} } },
          },
        },
      },
    }),
    responses: {
      [success.status]: answer(success.body, 'Done', examples.answer),
      ...(accepted && { 202: answer(accepted, 'Waits for a person', examples.accepted ?? examples.answer) }),
      ...Object.fromEntries(
        statuses.map((status) => [
          String(status),
          problemResponse(codes.filter((code) => gatewayProblems[code].status === status)),
        ]),
      ),
    },
  }
}

function problemResponse(codes: readonly GatewayProblemCode[]): JsonObject {
  const narrowed = { type: 'object', properties: { code: { type: 'string', enum: [...codes] } } }
  return {
    description: codes.map((code) => `\`${code}\`: ${gatewayProblems[code].title}.`).join(' '),
    content: {
      [MEDIA_TYPE.problem]: {
        schema: { allOf: [reference(problemSchema), narrowed] },
        examples: Object.fromEntries(codes.map((code) => [code, { $ref: `#/components/examples/${code}` }])),
      },
    },
  }
}

function parametersOf({ path, query, idempotencyKey }: GatewayOperation): Json[] {
  const required = new Set(query?.required ?? [])
  return [
    ...pathParameters(path).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
      name,
      in: 'query',
      required: required.has(name),
      schema: toComponents(toJson(schema)),
    })),
    ...(idempotencyKey === 'none'
      ? []
      : [
          {
            name: 'Idempotency-Key',
            in: 'header',
            required: idempotencyKey === 'required',
            description: 'A retry with the same key and content gets the recorded answer for a day.',
            schema: { type: 'string', minLength: 1, maxLength: 255 },
          },
        ]),
  ]
}
