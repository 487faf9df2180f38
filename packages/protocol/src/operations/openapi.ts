import { problems } from '../problems.ts'
import { DEFAULT_PROFILE, type DeploymentProfile } from '../profile/profile.ts'
import { PUBLISHED_PROFILE } from '../profile/published-profile.ts'
import { OPEN_POINT, ours } from '../schema/annotations.ts'
import { nameOf, type Json, type JsonObject } from '../schema/define.ts'
import { API_DESCRIPTION_VERSION, PROTOCOL_VERSION } from '../wire.ts'
import { EXAMPLE_EXCHANGE } from './examples/story.ts'
import { operationExamples } from './examples/index.ts'
import { headerParameters, parametersOf } from './openapi-parameters.ts'
import { problemExamples, problemResponse } from './openapi-problems.ts'
import { componentSchemas, jsonContent, reference } from './openapi-schemas.ts'
import { webhook } from './openapi-webhooks.ts'
import { maximumBodyBytes } from './request-limits.ts'
import { problemsOf, type Operation } from './operation.ts'
import { OPERATION_IDS, operations, type OperationId } from './operations.ts'

export interface OpenApiOptions {
  /** The base URL of a running exchange. Without it, URLs in the document are relative. */
  readonly baseUrl?: string
  /** The token endpoint, if known. Clients find it by discovery (O-08). */
  readonly tokenUrl?: string
  /** The profile of the deployment. */
  readonly profile?: DeploymentProfile
}

/** The OpenAPI 3.1.1 document, derived from the operations table and the named schemas. */
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
    security: securityOf(profile),
    tags: Object.entries({ ...AREAS, webhooks: 'Requests of the exchange to registered endpoints' }).map(
      ([name, description]) => ({ name, description }),
    ),
    paths,
    // By reference, because client generators would turn an inline webhook into an operation.
    webhooks: { packageNotification: reference('packageNotification', 'pathItems') },
    components: {
      securitySchemes: securitySchemes(options.tokenUrl ?? '/oauth/token'),
      parameters: headerParameters(profile),
      examples: problemExamples(
        profile['O-11'].problem_base ?? `${exchange}/problems`,
        OPERATION_IDS.flatMap((id) => problemsOf(operations[id])),
      ),
      pathItems: { packageNotification: webhook(profile) },
      schemas: componentSchemas(profile),
    },
    [PUBLISHED_PROFILE]: profile,
  }
}

const AREAS: Record<Operation['area'], string> = {
  agents: 'Agents and their public keys',
  skills: 'Signed, content-addressed skill releases',
  'policy-receipts': 'Signed claims that a policy was evaluated',
  packages: 'Sealed packages, receipts, responses and revocation',
  threads: 'Conversations: related packages',
  notifications: 'Event stream and webhooks',
  audit: 'Evidence that can be verified without trusting the exchange',
}

const INTRODUCTION = [
  'Agents of different organizations exchange client-encrypted, signed reasoning packages and track them.',
  'The exchange never receives plaintext or a private key.',
  `\`${OPEN_POINT}\` marks a question that the specification leaves open: the choice is that of this`,
  'project, named by the id of the open point, and a deployment can change it. The maximum sizes of strings,',
  'lists and objects in requests (`maxLength`, `maxItems`, `maxProperties`) are those of O-14.',
  `\`${PUBLISHED_PROFILE}\` lists every choice of this deployment.`,
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
        description: `At most ${maximumBodyBytes(id, profile['O-14'])} bytes of JSON.`,
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

/** Examples with the URLs of this exchange. */
function at(exchange: string, examples: Readonly<Record<string, object>>): JsonObject {
  const text = JSON.stringify(examples).replaceAll(EXAMPLE_EXCHANGE, exchange)
  return JSON.parse(text) as JsonObject
}

/** O-30: a token that is bound to a client certificate, or, unless the deployment requires that, any token. */
export function securityOf(profile: DeploymentProfile): Json[] {
  const bound = { oauth2: [], mutualTLS: [] }
  return profile['O-30'].require_mutual_tls ? [bound] : [bound, { oauth2: [] }]
}

export function securitySchemes(tokenUrl: string): JsonObject {
  return {
    oauth2: {
      type: 'oauth2',
      description: 'A short-lived access token. Find the token endpoint by discovery (RFC 9728, RFC 8414).',
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
