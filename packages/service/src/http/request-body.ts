import { CryptoError, parseWithSpans, type JsonValue, type ParsedJson } from '@agent-exchange/crypto'
import {
  operations,
  validatorOf,
  withoutUnknownMembers,
  type DeploymentProfile,
  type Named,
  type Operation,
  type OperationId,
} from '@agent-exchange/protocol'
import { boundFailures } from '../kernel/bounds.ts'
import { assertJsonLimits } from '../kernel/json-limits.ts'
import { Problem } from '../kernel/problem.ts'

/** Parses strict JSON, which rules out ambiguous input. Its tokens are counted before that (O-14). */
export function parseBody(bytes: Uint8Array, profile: DeploymentProfile): ParsedJson {
  try {
    return parseWithSpans(bytes, {
      maxDepth: profile['O-14'].json_depth,
      inspect: (json) => assertJsonLimits(json, profile),
    })
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error
    const place = error.offset === undefined ? {} : { offset: error.offset }
    throw new Problem('malformed_request', { reason: error.code, ...place }, { cause: error })
  }
}

/**
 * Operations whose body may contain unknown members (O-29). All other bodies are signed as sent: removing a member
 * would break the signature, and keeping it would let content through.
 */
const UNSIGNED_BODIES: ReadonlySet<OperationId> = new Set<OperationId>([
  'registerAgent',
  'registerAgentKey',
  'revokeAgentKey',
  'createWebhookEndpoint',
  'acknowledgeNotification',
])

/** Validates the body against its schema and the limits of the profile. The result has the operation's request type. */
export function checkBody(
  id: OperationId,
  body: JsonValue,
  profile: DeploymentProfile,
  schemaOf: (body: JsonValue) => Named<unknown> | undefined = () => (operations[id] as Operation).request,
): JsonValue {
  const schema = schemaOf(body)
  if (!schema) return body
  const ignoresUnknown = profile['O-29'].unknown_members === 'ignored' && UNSIGNED_BODIES.has(id)
  const checked = ignoresUnknown ? (withoutUnknownMembers(schema, body) as JsonValue) : body
  const failures = validatorOf(schema)(checked)
  if (failures.length === 0) failures.push(...boundFailures(checked, profile))
  if (failures.length > 0) throw new Problem('validation_failed', { failures })
  return checked
}
