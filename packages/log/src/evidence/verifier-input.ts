import { parseEnvelope, parseStrictJson, unlessRefused } from '@agent-exchange/crypto'
import { DEFAULT_PROFILE, MEDIA_TYPE, validateObject, type PolicyEnvelope } from '@agent-exchange/protocol'
import { MAXIMUM_DEPTH } from './evidence-bundle.ts'

/** The package whose envelope these bytes are; undefined where they are none. */
export function packageOfEnvelope(bytes: Uint8Array): string | undefined {
  const contentTypes = [MEDIA_TYPE.reasoningPackage, ...DEFAULT_PROFILE['O-35'].content_types]
  const envelope = unlessRefused(() => parseEnvelope(bytes, { contentTypes, maxDepth: MAXIMUM_DEPTH }))
  const id: unknown = Reflect.get(Object(envelope?.metadata) as object, 'package_id')
  return typeof id === 'string' ? id : undefined
}

/** The policy_envelope that these bytes hold; undefined where they hold none that is valid. */
export function policyIn(bytes: Uint8Array): PolicyEnvelope | undefined {
  const result = unlessRefused(() => validateObject(parseStrictJson(bytes, { maxDepth: MAXIMUM_DEPTH })))
  return result?.valid && result.object.object_type === 'policy_envelope' ? result.object : undefined
}
