import { createHash, timingSafeEqual } from 'node:crypto'
import { canonicalize } from '@agent-exchange/crypto'
import type { DeploymentProfile, OperationId } from '@agent-exchange/protocol'

/** O-21: what an idempotency key is unique within, beside the organization. */
export function idempotencyScope(operation: OperationId, params: object, profile: DeploymentProfile): string {
  if (profile['O-21'].scope === 'operation') return operation
  return [operation, ...Object.values(params).map((value) => encodeURIComponent(String(value)))].join('/')
}

/** API-05: content is path parameters plus RFC 8785 of the body. */
export function contentHash({
  params,
  body,
}: {
  readonly params: unknown
  readonly body: unknown
}): Uint8Array {
  return createHash('sha256')
    .update(canonicalize([params, body]))
    .digest()
}

export function sameContent(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && timingSafeEqual(a, b)
}
