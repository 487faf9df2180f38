import type { PackageMetadata } from '@agent-exchange/protocol'
import { canonicalBytes } from './canonical-json.ts'
import { contentKeyCommitment } from './content-key.ts'
import { parseStrictJson, type JsonObject } from './strict-json.ts'
import { unlessRefused } from './unless-refused.ts'

/** Marks additional authenticated data that our SDK wrote (O-17). Everything else is opaque. */
export const ADDITIONAL_DATA_FORMAT = 'aex-aad/1'

/** Metadata that exist before the content is sealed. The transport mode may change without sealing again. */
export type BoundMetadata = Omit<PackageMetadata, 'content_digest' | 'transport_mode'>

/** Our additional data. Members that a reader does not know are ignored. */
export interface AdditionalData extends JsonObject {
  readonly format: typeof ADDITIONAL_DATA_FORMAT
}

export interface AdditionalMembers {
  /** Commits to the content key: the sender cannot show another content under another key later. */
  readonly keyCommitment?: string
  /** The signed note of the newest checkpoint of the transparency log that the sender has verified. */
  readonly checkpoint?: string
}

/**
 * The additional authenticated data of a sealed package: nobody can sign the ciphertext again under other metadata.
 *
 * @example
 * const aad = (keyCommitment: string) => writeAdditionalData(metadata, { keyCommitment })
 * const jwe = await sealPackage(bytes, { sender, recipient, aad })
 */
export function writeAdditionalData(
  metadata: BoundMetadata,
  { keyCommitment, checkpoint }: AdditionalMembers = {},
): Uint8Array {
  const { content_digest: _, transport_mode: __, ...bound } = metadata as PackageMetadata
  return canonicalBytes({
    format: ADDITIONAL_DATA_FORMAT,
    metadata: bound,
    ...(keyCommitment !== undefined && { key_commitment: keyCommitment }),
    ...(checkpoint !== undefined && { log: checkpoint }),
  })
}

/** What the additional data of an opened package say about it. */
export interface CheckedAdditionalData {
  /** Whether the sender committed to the key that opened the package; `none` for other implementations. */
  readonly keyCommitment: 'none' | 'fits' | 'differs'
  /** Members of the metadata that differ from those for which the content was sealed. */
  readonly differingMetadata: readonly string[]
  /** The sender's checkpoint of the transparency log. */
  readonly checkpoint?: string
}

/** Compares our additional data with the package; those of other implementations are opaque and contradict nothing. */
export function checkAdditionalData(
  { aad, contentKey }: { readonly aad: Uint8Array; readonly contentKey: Uint8Array },
  metadata: PackageMetadata,
): CheckedAdditionalData {
  const data = readAdditionalData(aad)
  if (!data) return { keyCommitment: 'none', differingMetadata: [] }
  const { keyCommitment, checkpoint } = additionalMembers(data)
  const isCommitted = keyCommitment === contentKeyCommitment(contentKey)
  return {
    keyCommitment: isCommitted ? 'fits' : keyCommitment === undefined ? 'none' : 'differs',
    differingMetadata: differingMetadata(data, metadata),
    ...(checkpoint !== undefined && { checkpoint }),
  }
}

/** What the sender added; members of another type are taken for absent. */
function additionalMembers({ key_commitment, log }: AdditionalData): AdditionalMembers {
  return {
    ...(typeof key_commitment === 'string' && { keyCommitment: key_commitment }),
    ...(typeof log === 'string' && { checkpoint: log }),
  }
}

/** Our additional data; undefined for those of another implementation. */
export function readAdditionalData(aad: Uint8Array): AdditionalData | undefined {
  const value = unlessRefused(() => parseStrictJson(aad))
  return isObject(value) && value['format'] === ADDITIONAL_DATA_FORMAT ? (value as AdditionalData) : undefined
}

/** Members that the metadata may lack. */
const OPTIONAL = { responds_to_package_id: undefined }

function differingMetadata({ metadata: bound }: AdditionalData, metadata: PackageMetadata): string[] {
  if (!isObject(bound)) return ['metadata']
  const compared = { ...OPTIONAL, ...metadata }
  return Object.keys(bound).filter(
    (name) => Object.hasOwn(compared, name) && bound[name] !== Reflect.get(compared, name),
  )
}

function isObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
