import type { JsonValue } from '@agent-exchange/crypto'
import { dsxPackageBody, nativePackageBody, type Named } from '@agent-exchange/protocol'

/**
 * A body with `transport_mode` is a ds_x manifest, any other a signed envelope. Each has its own schema. None for an
 * envelope: parsing it refuses whatever the schema would, and uses the schema only to explain.
 */
export function bodySchema(body: JsonValue): Named<unknown> | undefined {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return nativePackageBody
  return Object.hasOwn(body, 'transport_mode') ? dsxPackageBody : undefined
}
