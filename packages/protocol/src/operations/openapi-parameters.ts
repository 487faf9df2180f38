import type { DeploymentProfile } from '../profile/profile.ts'
import { PAGE_POINTS } from '../resources/forms.ts'
import { OPEN_POINT, ours } from '../schema/annotations.ts'
import { nameOf, toJson, type Json, type JsonObject } from '../schema/define.ts'
import { resourceId } from '../schema/shared.ts'
import { HEADER } from '../wire.ts'
import { reference, toComponentReferences } from './openapi-schemas.ts'
import { pathParameters, type Operation } from './operation.ts'
import { RESOURCE_ID_MEMBERS } from './request-limits.ts'

/** RFC 9110 section 5.5: visible ASCII. */
const VISIBLE = '^[!-~]+$'

export function parametersOf(operation: Operation, profile: DeploymentProfile): Json[] {
  const identifier = {
    type: 'string',
    minLength: 1,
    maxLength: profile['O-14'].identifier_characters,
    ...ours('O-14'),
  }
  const inPath = pathParameters(operation.path).map((name) => ({
    name,
    in: 'path',
    required: true,
    schema: RESOURCE_ID_MEMBERS.has(name) ? reference(nameOf(resourceId)) : identifier,
  }))
  const inQuery = Object.entries(operation.query?.properties ?? {}).map(([name, schema]) => ({
    name,
    in: 'query',
    required: false,
    schema: toComponentReferences(withPageLimits(toJson(schema), profile)),
  }))
  const headers = [reference('correlationId', 'parameters')]
  if (operation.mutation) headers.push(reference('idempotencyKey', 'parameters'))
  return [...headers, ...inPath, ...inQuery]
}

/** The parameter `limit` names the open point that sets its default and maximum. */
function withPageLimits(schema: JsonObject, profile: DeploymentProfile): JsonObject {
  const point = PAGE_POINTS.find((id) => schema['type'] === 'integer' && schema[OPEN_POINT] === id)
  if (!point) return schema
  const { default_limit, maximum_limit } = profile[point]
  return { ...schema, maximum: maximum_limit, default: default_limit }
}

export function headerParameters(profile: DeploymentProfile): JsonObject {
  const schema = {
    type: 'string',
    minLength: 1,
    maxLength: profile['O-39'].header_characters,
    pattern: VISIBLE,
    ...ours('O-39'),
  }
  const header = (name: string, description: string, example: string) => ({
    name,
    in: 'header',
    required: true,
    description,
    schema,
    example,
  })
  return {
    correlationId: header(
      HEADER.correlationId,
      'Opaque id of the request, without business content; returned in problems.',
      '8c0a2f1e-2f0c-4f0a-9d3b-6a3f5f4b7c11',
    ),
    idempotencyKey: header(
      HEADER.idempotencyKey,
      'Opaque key. The same key with the same content returns the original response; with other content it is a problem.',
      '0b9a8d52-7c6e-4a86-8f36-2d1f3c5f9e20',
    ),
  }
}
