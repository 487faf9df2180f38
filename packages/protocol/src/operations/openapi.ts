import { problems } from '../problems.ts'
import { DEFAULT_PROFILE, type DeploymentProfile } from '../profile/profile.ts'
import { OPEN_POINT, ours } from '../schema/annotations.ts'
import { nameOf, type JsonObject } from '../schema/define.ts'
import { API_DESCRIPTION_VERSION, PROTOCOL_VERSION } from '../wire.ts'
import { EXAMPLE_EXCHANGE } from './examples/story.ts'
import { operationExamples } from './examples/index.ts'
import { headerParameters, parametersOf } from './openapi-parameters.ts'
import { problemExamples, problemResponse } from './openapi-problems.ts'
import { componentSchemas, jsonContent, reference } from './openapi-schemas.ts'
import { webhook } from './openapi-webhooks.ts'
import { problemsOf, type Operation } from './operation.ts'
import { OPERATION_IDS, operations, type OperationId } from './operations.ts'

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
  const profile = options.profile ?? DEFAULT_PROFILE
  const exchange = options.baseUrl ?? EXAMPLE_EXCHANGE
  const paths: Record<string, JsonObject> = {}
  for (const id of OPERATION_IDS) {
    const operation: Operation = operations[id]
    ;(paths[operation.path] ??= {})[operation.method.toLowerCase()] = describe(
      id,
      operation,
      profile,
      exchange,
    )
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
    tags: Object.entries({ ...AREAS, webhooks: 'What the exchange sends to registered endpoints' }).map(
      ([name, description]) => ({ name, description }),
    ),
    paths,
    // By reference: generators of clients would make operations of what stands here itself.
    webhooks: { packageNotification: reference('packageNotification', 'pathItems') },
    components: {
      securitySchemes: securitySchemes(options.tokenUrl ?? '/oauth/token'),
      parameters: headerParameters(profile),
      examples: problemExamples(profile['O-11'].problem_base ?? `${exchange}/problems`),
      pathItems: { packageNotification: webhook(profile) },
      schemas: componentSchemas(profile),
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
  "project's, it is named by the id of the point, and a deployment may set it otherwise. The longest texts,",
  'lists and objects of requests (`maxLength`, `maxItems`, `maxProperties`) are those of O-14.',
].join(' ')

function describe(
  id: OperationId,
  operation: Operation,
  profile: DeploymentProfile,
  exchange: string,
): JsonObject {
  const { request, success } = operation
  const examples = operationExamples[id]
  const codes = problemsOf(operation)
  const statuses = [...new Set(codes.map((code) => problems[code].status))].toSorted((a, b) => a - b)
  return {
    operationId: id,
    summary: operation.summary,
    tags: [operation.area],
    parameters: parametersOf(operation, profile),
    ...(request && {
      requestBody: {
        required: true,
        description: `At most ${profile['O-14'].request_bytes} bytes of JSON.`,
        content: jsonContent(reference(nameOf(request)), at(exchange, examples.requests ?? {})),
        ...ours('O-14'),
      },
    }),
    responses: {
      [success.status]: {
        description: `${operation.summary}: done`,
        content: jsonContent(reference(nameOf(success.body)), at(exchange, { example: examples.response })),
      },
      ...Object.fromEntries(
        statuses.map((status) => [
          String(status),
          problemResponse(codes.filter((code) => problems[code].status === status)),
        ]),
      ),
    },
  }
}

/** Examples with the addresses of this exchange. */
function at(exchange: string, examples: Readonly<Record<string, object>>): JsonObject {
  const text = JSON.stringify(examples).replaceAll(EXAMPLE_EXCHANGE, exchange)
  return JSON.parse(text) as JsonObject
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
