import { CryptoError, parseStrictJson, type JsonValue } from '@agent-exchange/crypto'
import {
  dsxPackageBody,
  nativePackageBody,
  operations,
  packageBody,
  validatorOf,
  type DeploymentProfile,
  type Failure,
  type Named,
  type Operation,
  type OperationId,
} from '@agent-exchange/protocol'
import { Problem } from '../kernel/problem.ts'

/** Strict JSON: whatever two readers could understand differently is refused. */
export function parseBody(bytes: Uint8Array, profile: DeploymentProfile): JsonValue {
  try {
    return parseStrictJson(bytes, { maxDepth: profile['O-14'].json_depth })
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error
    const place = error.offset === undefined ? {} : { offset: error.offset }
    throw new Problem('malformed_request', { reason: error.code, ...place }, { cause: error })
  }
}

/** Checks the body against its schema and its bounds; what passes has the operation's request type. */
export function checkBody(id: OperationId, body: JsonValue, profile: DeploymentProfile): void {
  const { request }: Operation = operations[id]
  if (!request) return
  const failures = validatorOf(chosen(request, body))(body)
  if (failures.length === 0 && chosen(request, body) !== nativePackageBody)
    collectBounds(body, '', profile, failures)
  if (failures.length > 0) throw new Problem('validation_failed', { failures })
}

/** A package body is a manifest where it says so, and otherwise a signature; each is judged by its own schema. */
function chosen(request: Named<unknown>, body: JsonValue): Named<unknown> {
  if (request !== packageBody) return request
  const isManifest = typeof body === 'object' && body !== null && Object.hasOwn(body, 'transport_mode')
  return isManifest ? dsxPackageBody : nativePackageBody
}

/** Members that hold a sentence or an address rather than a name. */
const LONG_TEXTS = new Set(['statement', 'reason_detail', 'evidence_reference', 'url'])

/** O-14: every text, list and map has an end, and nothing holds what the database cannot keep. */
function collectBounds(
  value: JsonValue,
  pointer: string,
  profile: DeploymentProfile,
  failures: Failure[],
): void {
  const limits = profile['O-14']
  const fail = (message: string) => failures.push({ pointer, rule: 'O-14', message })
  if (typeof value === 'string') {
    const name = pointer.slice(pointer.lastIndexOf('/') + 1)
    const longest = LONG_TEXTS.has(name) ? limits.text_characters : limits.identifier_characters
    if (value.length > longest) fail(`Use at most ${longest} characters.`)
    if (value.includes('\0')) fail('Leave out the null character.')
  } else if (typeof value === 'object' && value !== null) {
    const members = Object.entries(value)
    if (members.length > limits.list_items) fail(`List at most ${limits.list_items} entries.`)
    else
      for (const [name, inner] of members)
        collectBounds(inner, `${pointer}/${memberName(name, fail)}`, profile, failures)
  }
}

function memberName(name: string, fail: (message: string) => void): string {
  if (name.includes('\0')) fail('Leave out the null character.')
  return name.replaceAll('~', '~0').replaceAll('/', '~1')
}
