import {
  CryptoError,
  parseWithSpans,
  type JsonObject,
  type JsonValue,
  type ParsedJson,
} from '@agent-exchange/crypto'
import {
  dsxPackageBody,
  nativePackageBody,
  operations,
  packageBody,
  validatorOf,
  withoutUnknownMembers,
  type DeploymentProfile,
  type Named,
  type Operation,
  type OperationId,
} from '@agent-exchange/protocol'
import { boundFailures } from '../kernel/bounds.ts'
import { assertListLimits } from '../kernel/list-limits.ts'
import { Problem } from '../kernel/problem.ts'

/**
 * Strict JSON, and its text: whatever two readers could understand differently is refused. So are lists without end,
 * before keys, schemas or signatures are looked at.
 */
export function parseBody(bytes: Uint8Array, profile: DeploymentProfile): ParsedJson {
  try {
    return parseWithSpans(bytes, {
      maxDepth: profile['O-14'].json_depth,
      inspect: (value) => assertListLimits(value, profile),
    })
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error
    const place = error.offset === undefined ? {} : { offset: error.offset }
    throw new Problem('malformed_request', { reason: error.code, ...place }, { cause: error })
  }
}

/**
 * Bodies that are read member by member, so that one may be passed over (O-29). The others are signed as they were
 * sent: a member left out would break the signature, and one left in would be a place for content.
 */
const RESERIALIZED: ReadonlySet<OperationId> = new Set<OperationId>([
  'registerAgent',
  'registerAgentKey',
  'revokeAgentKey',
  'createWebhookEndpoint',
  'acknowledgeNotification',
])

/** Checks the body against its schema and its bounds; what passes has the operation's request type. */
export function checkBody(id: OperationId, body: JsonValue, profile: DeploymentProfile): JsonValue {
  const { request }: Operation = operations[id]
  if (!request) return body
  const schema = chosen(request, body)
  // An envelope is read next, which refuses whatever its schema would: readNative asks the schema for the reasons.
  if (schema === nativePackageBody && isObject(body)) return body
  const ignoresUnknown = profile['O-29'].unknown_members === 'ignored' && RESERIALIZED.has(id)
  const checked = ignoresUnknown ? (withoutUnknownMembers(schema, body) as JsonValue) : body
  const failures = validatorOf(schema)(checked)
  if (failures.length === 0) failures.push(...boundFailures(checked, profile))
  if (failures.length > 0) throw new Problem('validation_failed', { failures })
  return checked
}

/** A package body is a manifest where it says so, and otherwise a signature; each is judged by its own schema. */
function chosen(request: Named<unknown>, body: JsonValue): Named<unknown> {
  if (request !== packageBody) return request
  const isManifest = isObject(body) && Object.hasOwn(body, 'transport_mode')
  return isManifest ? dsxPackageBody : nativePackageBody
}

function isObject(body: JsonValue): body is JsonObject {
  return typeof body === 'object' && body !== null && !Array.isArray(body)
}
