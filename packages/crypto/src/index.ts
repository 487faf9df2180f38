/**
 * The cryptography of Agent Exchange. It has no I/O and reads no clock. Only `primitives-node.ts` needs Node, so the
 * package also runs in browsers.
 *
 * @packageDocumentation
 */

export {
  ADDITIONAL_DATA_FORMAT,
  checkAdditionalData,
  readAdditionalData,
  writeAdditionalData,
  type AdditionalData,
  type AdditionalMembers,
  type BoundMetadata,
  type CheckedAdditionalData,
} from './additional-data.ts'
export { decodeBase64, decodeBase64url, encodeBase64, encodeBase64url } from './base64.ts'
export { canonicalBytes, canonicalize } from './canonical-json.ts'
export {
  CONTENT_DIGEST_RULES,
  contentDigests,
  matchContentDigest,
  sealedContentDigest,
  type ContentDigestRule,
} from './content-digest.ts'
export { contentKeyCommitment } from './content-key.ts'
export type { Curve } from './curves.ts'
export {
  readDetached,
  signatureBytes,
  signDetached,
  verifyDetached,
  type DetachedSignature,
  type SignatureMember,
  type SigningKey,
} from './detached-signature.ts'
export { bytesEqual, digestsEqual, parseContentDigest, parseDigest, sha256Digest } from './digest.ts'
export {
  parseEnvelope,
  readEnvelope,
  signEnvelope,
  verifyEnvelope,
  type Envelope,
  type EnvelopeOptions,
  type ParsedEnvelope,
} from './envelope.ts'
export { sha256Sync } from '#primitives'
export { hmacSha256 } from './hmac.ts'
export { CRYPTO_ERROR_CODES, CryptoError, type CryptoErrorCode } from './errors.ts'
export { signEs256, verifyEs256 } from './es256.ts'
export { formatInvitation, isInvitationSecret, parseInvitation, type Invitation } from './invitation.ts'
export {
  holdsPrivateMember,
  type JwkOptions,
  type KeyUse,
  type PrivateJwk,
  type PublicJwk,
} from './jwk-shape.ts'
export type { HeldKey, KeyLabel, KeyProvider } from './key-provider.ts'
export {
  generateKeyPair,
  importPrivateJwk,
  importPublicJwk,
  jwkThumbprint,
  type KeyPair,
  type PrivateKey,
  type PublicKey,
} from './keys.ts'
export {
  openDisclosedPackage,
  openPackage,
  sealPackage,
  type OpenedPackage,
  type Party,
  type SealOptions,
} from './sealed-package.ts'
export {
  readSealedPackage,
  type SealedOptions,
  type SealedPackage,
  type SealedRecipient,
} from './sealed-package-shape.ts'
export {
  signManifest,
  signPackageStatement,
  signPolicyReceipt,
  signSkillRelease,
  verifyManifest,
  verifyPackageStatement,
  verifyPolicyReceipt,
  verifySkillRelease,
  type StatementCheck,
  type StatementForm,
} from './statements.ts'
export {
  parseStrictJson,
  parseWithSpans,
  type InspectJson,
  type JsonObject,
  type JsonValue,
  type ParsedJson,
  type StrictJsonOptions,
} from './strict-json.ts'
export { unlessRefused } from './unless-refused.ts'
export type { HeaderFields } from './webhook-request.ts'
export {
  signWebhook,
  signWebhookBase,
  type WebhookDelivery,
  type WebhookHeaders,
  type WebhookSigning,
} from './webhook-sign.ts'
export {
  verifyWebhook,
  type VerifiedWebhook,
  type WebhookKey,
  type WebhookRequest,
  type WebhookVerification,
} from './webhook-verify.ts'
