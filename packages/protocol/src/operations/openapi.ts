import { problems, problemDetails, type ProblemCode } from '../problems.ts'
import { DEFAULT_PROFILE, type DeploymentProfile } from '../profile/profile.ts'
import { OPEN_POINT, ours } from '../schema/annotations.ts'
import {
  namesReachedFrom,
  nameOf,
  schemaNamed,
  toJson,
  type Json,
  type JsonObject,
} from '../schema/define.ts'
import { API_DESCRIPTION_VERSION, HEADER, MEDIA_TYPE, PROTOCOL_VERSION } from '../wire.ts'
import { pathParameters, problemsOf, type Operation } from './operation.ts'
import { OPERATION_IDS, operations } from './operations.ts'

export interface OpenApiOptions {
  /** The address of a running exchange, {base_url}. Without it the document stays relative. */
  readonly baseUrl?: string
  /** The token endpoint, where it is known; clients find it by discovery in any case (O-08). */
  readonly tokenUrl?: string
  /** The deployment's choices, where they show in the document. */
  readonly profile?: DeploymentProfile
}

/** The OpenAPI 3.1.1 document, from the operations table and the named schemas alone. */
export function openApiDocument(options: OpenApiOptions = {}): JsonObject {
  const paths: Record<string, JsonObject> = {}
  for (const id of OPERATION_IDS) {
    const operation: Operation = operations[id]
    ;(paths[operation.path] ??= {})[operation.method.toLowerCase()] = describe(id, operation)
  }
  return {
    openapi: '3.1.1',
    info: {
      title: 'Agent Exchange',
      version: API_DESCRIPTION_VERSION,
      summary: `Agent API of the exchange, protocol ${PROTOCOL_VERSION}`,
      description: INTRODUCTION,
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.baseUrl ?? '/' }],
    security: [{ oauth2: [], mutualTLS: [] }, { oauth2: [] }],
    tags: Object.entries(AREAS).map(([name, description]) => ({ name, description })),
    paths,
    components: {
      securitySchemes: securitySchemes(options.tokenUrl ?? '/oauth/token'),
      parameters: headerParameters(options.profile ?? DEFAULT_PROFILE),
      schemas: componentSchemas(),
    },
  }
}

const AREAS: Record<Operation['area'], string> = {
  agents: 'Agents and their public keys',
  skills: 'Signed, content-addressed skill releases',
  'policy-receipts': 'Signed claims that policy was evaluated',
  packages: 'Sealed packages, receipts, responses and revocation',
  threads: 'Packages that belong together',
  notifications: 'The stream of events, and webhooks',
  audit: 'Evidence that can be checked without trusting the exchange',
}

const INTRODUCTION = [
  'Agents of different organizations exchange client-encrypted, signed reasoning packages and track them.',
  'The exchange never receives plaintext or a private key.',
  `Whatever carries \`${OPEN_POINT}\` fills a point that the specification leaves open: the choice is this`,
  "project's, it is named by the id of the point, and a deployment may set it otherwise.",
].join(' ')

function describe(id: string, operation: Operation): JsonObject {
  const { request, success } = operation
  const codes = problemsOf(operation)
  const statuses = [...new Set(codes.map((code) => problems[code].status))].toSorted((a, b) => a - b)
  return {
    operationId: id,
    summary: operation.summary,
    tags: [operation.area],
    parameters: parametersOf(operation),
    ...(request && { requestBody: { required: true, content: jsonContent(reference(nameOf(request))) } }),
    responses: {
      [success.status]: {
        description: `${operation.summary}: done`,
        content: jsonContent(reference(nameOf(success.body))),
      },
      ...Object.fromEntries(
        statuses.map((status) => [String(status), problemResponse(withStatus(codes, status))]),
      ),
    },
  }
}

function parametersOf(operation: Operation): Json[] {
  const inPath = pathParameters(operation.path).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: { type: 'string', minLength: 1 },
  }))
  const inQuery = Object.entries(operation.query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: toComponentReferences(toJson(schema)),
  }))
  const headers = [reference('correlationId', 'parameters')]
  if (operation.mutation) headers.push(reference('idempotencyKey', 'parameters'))
  return [...headers, ...inPath, ...inQuery]
}

function headerParameters(profile: DeploymentProfile): JsonObject {
  const schema = {
    type: 'string',
    minLength: 1,
    maxLength: profile['O-39'].header_characters,
    ...ours('O-39'),
  }
  const header = (name: string, description: string) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema,
  })
  return {
    correlationId: header(
      HEADER.correlationId,
      'Opaque id of the request, without business plaintext; problems repeat it.',
    ),
    idempotencyKey: header(
      HEADER.idempotencyKey,
      'Opaque key: the same key with the same content gives the original answer, with other content a problem.',
    ),
  }
}

function securitySchemes(tokenUrl: string): JsonObject {
  return {
    oauth2: {
      type: 'oauth2',
      description:
        'A short-lived access token. The token endpoint is found by RFC 9728 and RFC 8414 discovery.',
      flows: { clientCredentials: { tokenUrl, scopes: {} } },
      ...ours('O-08'),
    },
    mutualTLS: {
      type: 'mutualTLS',
      description: 'The client certificate that binds the token (RFC 8705).',
      ...ours('O-30'),
    },
  }
}

function withStatus(codes: readonly ProblemCode[], status: number): ProblemCode[] {
  return codes.filter((code) => problems[code].status === status)
}

/** Problems whose answer carries Retry-After. */
const WAITS: ReadonlySet<ProblemCode> = new Set([
  'rate_limited',
  'service_overloaded',
  'database_unavailable',
])

function problemResponse(codes: readonly ProblemCode[]): JsonObject {
  const isOurs = codes.some((code) => problems[code].basis === 'profile')
  const waits = codes.some((code) => WAITS.has(code))
  const seconds = { description: 'Seconds to wait', schema: { type: 'integer', minimum: 0 } }
  return {
    description: codes.map((code) => `\`${code}\`: ${problems[code].title}.`).join(' '),
    ...(isOurs && ours('O-11')),
    ...(waits && { headers: { 'Retry-After': seconds } }),
    content: {
      [MEDIA_TYPE.problem]: {
        schema: { ...reference(nameOf(problemDetails)), properties: { code: { enum: [...codes] } } },
      },
    },
  }
}

function componentSchemas(): JsonObject {
  const used = OPERATION_IDS.flatMap((id) => {
    const { request, success }: Operation = operations[id]
    return [success.body, ...(request ? [request] : [])]
  })
  const names = new Set([problemDetails, ...used].flatMap((schema) => namesReachedFrom(schema)))
  return Object.fromEntries(
    [...names].toSorted().map((name) => [name, toComponentReferences(toJson(schemaNamed(name)))]),
  )
}

function jsonContent(schema: JsonObject): JsonObject {
  return { [MEDIA_TYPE.json]: { schema } }
}

function reference(name: string, section = 'schemas'): JsonObject {
  return { $ref: `#/components/${section}/${name}` }
}

/** The named schemas refer to each other as `#/$defs/…`; in OpenAPI they live under components. */
function toComponentReferences(value: Json): Json {
  if (Array.isArray(value)) return value.map(toComponentReferences)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).map(([member, inner]) =>
      member === '$ref' && typeof inner === 'string'
        ? [member, inner.replace('#/$defs/', '#/components/schemas/')]
        : [member, toComponentReferences(inner)],
    ),
  )
}
