import { CryptoError, parseEnvelope, parseStrictJson } from '@agent-exchange/crypto'
import { DEFAULT_PROFILE, MEDIA_TYPE, validateObject, type PolicyEnvelope } from '@agent-exchange/protocol'
import { MAXIMUM_DEPTH } from './evidence-bundle.ts'

/** The package whose envelope these bytes are; undefined where they are none. */
export function packageOfEnvelope(bytes: Uint8Array): string | undefined {
  try {
    const contentTypes = [MEDIA_TYPE.reasoningPackage, ...DEFAULT_PROFILE['O-35'].content_types]
    const { metadata } = parseEnvelope(bytes, { contentTypes, maxDepth: MAXIMUM_DEPTH })
    const id: unknown = Reflect.get(Object(metadata) as object, 'package_id')
    return typeof id === 'string' ? id : undefined
  } catch (error) {
    if (error instanceof CryptoError) return undefined
    throw error
  }
}

/** The policy_envelope that these bytes hold; undefined where they hold none that is valid. */
export function policyIn(bytes: Uint8Array): PolicyEnvelope | undefined {
  try {
    const result = validateObject(parseStrictJson(bytes, { maxDepth: MAXIMUM_DEPTH }))
    return result.valid && result.object.object_type === 'policy_envelope' ? result.object : undefined
  } catch (error) {
    if (error instanceof CryptoError) return undefined
    throw error
  }
}
