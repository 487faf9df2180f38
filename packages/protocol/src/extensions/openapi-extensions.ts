import { securityOf, securitySchemes, type OpenApiOptions } from '../operations/openapi.ts'
import { problemExamples, problemResponse } from '../operations/openapi-problems.ts'
import { reference, schemasReachedFrom, toComponentReferences } from '../operations/openapi-schemas.ts'
import { EXAMPLE_EXCHANGE } from '../operations/examples/story.ts'
import { pathParameters } from '../operations/operation.ts'
import { problemDetails } from '../problem-details.ts'
import { problems, type ProblemCode } from '../problems.ts'
import { DEFAULT_PROFILE, type DeploymentProfile } from '../profile/profile.ts'
import { ours } from '../schema/annotations.ts'
import { nameOf, toJson, type Json, type JsonObject, type Named } from '../schema/define.ts'
import { API_DESCRIPTION_VERSION, MEDIA_TYPE } from '../wire.ts'
import { EXTENSION_IDS, extensions, type Extension, type ExtensionId } from './extensions.ts'

/** Problems of every extension. */
const COMMON = ['rate_limited', 'service_overloaded', 'database_unavailable', 'internal_error'] as const
const OF_CALLERS = [
  'access_token_missing',
  'access_token_invalid',
  'client_certificate_mismatch',
  'client_certificate_required',
  'caller_suspended',
] as const
const OF_BODIES = [
  'malformed_request',
  'payload_too_large',
  'media_type_unsupported',
  'request_timeout',
] as const

/** The OpenAPI 3.1.1 document of what this exchange serves beside the 21 operations. */
export function extensionsDocument(options: OpenApiOptions = {}): JsonObject {
  const profile = options.profile ?? DEFAULT_PROFILE
  const exchange = options.baseUrl ?? EXAMPLE_EXCHANGE
  const rows: readonly Extension[] = EXTENSION_IDS.map((id) => extensions[id])
  const bodies = rows.flatMap(({ request, success }) => [request, success]).filter(isNamed)
  return {
    openapi: '3.1.1',
    info: {
      title: 'Agent Exchange: transparency log and invitations',
      version: API_DESCRIPTION_VERSION,
      summary: 'What this exchange serves beside the agent API',
      description:
        'Nothing here is part of the protocol: other exchanges may lack it. `/openapi.json` describes the agent API.',
      license: { name: 'Apache-2.0', identifier: 'Apache-2.0' },
    },
    servers: [{ url: options.baseUrl ?? '/' }],
    security: securityOf(profile),
    tags: [
      { name: 'log', description: 'The transparency log: checkpoints, tiles and proofs' },
      { name: 'invitations', description: 'How an agent gets its client' },
    ],
    paths: Object.fromEntries(
      EXTENSION_IDS.map((id) => {
        const { method, path } = extensions[id]
        return [path, { [method.toLowerCase()]: describe(id, extensions[id], profile) }]
      }),
    ),
    components: {
      securitySchemes: securitySchemes(options.tokenUrl ?? '/oauth/token'),
      examples: problemExamples(
        profile['O-11'].problem_base ?? `${exchange}/problems`,
        rows.flatMap(problemsOf),
      ),
      schemas: schemasReachedFrom([problemDetails, ...bodies]),
    },
  }
}

const isNamed = (schema: Extension['success'] | undefined): schema is Named<unknown> =>
  typeof schema === 'object'

function problemsOf({ access, query, request, problems: own }: Extension): ProblemCode[] {
  const codes: ProblemCode[] = [
    ...own,
    ...COMMON,
    ...(access === 'anyone' ? [] : OF_CALLERS),
    ...(query || request ? (['validation_failed'] as const) : []),
    ...(request ? OF_BODIES : []),
  ]
  return codes
}

function describe(id: ExtensionId, extension: Extension, profile: DeploymentProfile): JsonObject {
  const { summary, area, access, request, success } = extension
  const codes = problemsOf(extension)
  const statuses = [...new Set(codes.map((code) => problems[code].status))].toSorted((a, b) => a - b)
  const isPublic = access === 'anyone' || (access === 'reader' && profile['O-07'].transparency_public)
  return {
    operationId: id,
    summary,
    tags: [area],
    ...(isPublic && { security: [] }),
    ...(access === 'reader' && ours('O-07')),
    parameters: parametersOf(extension),
    ...(request && {
      requestBody: { required: true, content: { [MEDIA_TYPE.json]: { schema: schemaOf(request) } } },
    }),
    responses: {
      200: { description: summary, content: contentOf(success) },
      ...Object.fromEntries(
        statuses.map((status) => [
          String(status),
          problemResponse(codes.filter((code) => problems[code].status === status)),
        ]),
      ),
    },
  }
}

const schemaOf = (schema: Named<unknown>) => reference(nameOf(schema))

function contentOf(success: Extension['success']): JsonObject {
  if (isNamed(success)) return { [MEDIA_TYPE.json]: { schema: schemaOf(success) } }
  return { [success]: { schema: { type: 'string' } } }
}

function parametersOf({ path, query }: Extension): Json[] {
  const required = new Set(query?.required ?? [])
  return [
    ...pathParameters(path).map((name) => ({ name, in: 'path', required: true, schema: { type: 'string' } })),
    ...Object.entries(query?.properties ?? {}).map(([name, schema]) => ({
      name,
      in: 'query',
      required: required.has(name),
      schema: toComponentReferences(toJson(schema)),
    })),
  ]
}
