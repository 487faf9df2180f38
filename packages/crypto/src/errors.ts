/**
 * Every error of this package, with its message. The codes are stable, because programs match on them; the messages may
 * change. No message contains input.
 */
const SENTENCES = {
  // Strict JSON and its canonical form
  json_encoding: 'The bytes are not UTF-8. Send JSON as UTF-8.',
  json_byte_order_mark: 'The text starts with a byte order mark. Send JSON without one.',
  json_syntax: 'The text is not a single JSON value.',
  json_duplicate_member: 'An object has a duplicate member name.',
  json_lone_surrogate: 'A string contains a lone surrogate, which UTF-8 cannot represent.',
  json_number: 'A number is not representable as an IEEE 754 double. Send large integers as strings.',
  json_depth: 'Arrays and objects are nested deeper than allowed.',
  json_not_representable: 'The value contains something that JSON cannot represent.',

  // Encodings and digests
  base64url_invalid: 'The text is not canonical base64url: no padding, no whitespace, unused bits zero.',
  digest_malformed: 'The digest does not have the form sha-256=:BASE64: with 32 bytes.',
  digest_missing: 'Content-Digest has no sha-256 member.',

  // Keys
  key_malformed: 'The key is not a JSON Web Key object.',
  key_private_material: 'The key contains private material. Replace this key, and send only public members.',
  key_private_missing: 'The key has no private part.',
  key_member_unknown:
    'An ephemeral key has a member other than kty, crv, x, y, kid, alg, use, key_ops and ext.',
  key_type_unsupported: 'The key type is not EC.',
  key_curve_unsupported: 'The curve is not allowed here.',
  key_coordinate_invalid: 'A key member is not canonical base64url with the length and range of its curve.',
  key_not_on_curve: 'The coordinates are not a point on the curve.',
  key_use_mismatch: 'The key declares another use.',
  key_pair_mismatch: 'The private part does not belong to the public part.',
  key_unavailable: 'The private key cannot be used now. The cause says why; try again when it can.',

  // Detached signatures
  signature_malformed: 'The signature is not an object with exactly key_id, algorithm and signature.',
  signature_algorithm: 'The signature algorithm is not ES256.',
  signature_encoding: 'The signature is not the 64 bytes r||s in base64url or base64 (DER is not accepted).',
  signature_mismatch: 'The signature does not match the content and the key.',

  // Exchange envelope (Flattened JWS)
  envelope_members:
    'The envelope is not an object with exactly protected, payload and signature, all strings.',
  envelope_header_members: 'The protected header does not have exactly alg, cty, kid, syv and typ.',
  envelope_algorithm: 'The envelope algorithm is not ES256.',
  envelope_type: 'The envelope typ is not that of an exchange envelope.',
  envelope_content_type: 'The envelope cty is not that of an exchange envelope.',
  envelope_version: 'The envelope syv is not the protocol version.',
  envelope_key_id: 'The envelope kid is not a non-empty string.',
  envelope_payload_members: 'The payload is not an object with exactly metadata and jwe.',

  // Sealed package (General JWE)
  sealed_members: 'The jwe does not have exactly aad, ciphertext, iv, protected, recipients and tag.',
  sealed_header_members: 'The JWE protected header does not have exactly cty, enc, syv and typ.',
  sealed_encryption: 'The content encryption is not A256GCM.',
  sealed_type: 'The JWE typ is not that of a sealed package.',
  sealed_content_type: 'The JWE cty is not an allowed content type.',
  sealed_version: 'The JWE syv is not the protocol version.',
  sealed_aad: 'The aad is empty.',
  sealed_iv: 'The iv is not 12 bytes.',
  sealed_ciphertext: 'The ciphertext is empty.',
  sealed_tag: 'The tag is not 16 bytes.',
  sealed_recipient_count: 'There are not exactly two recipients.',
  sealed_recipient_members:
    'A recipient does not have exactly encrypted_key and header with alg, epk and kid.',
  sealed_recipient_algorithm: 'The key wrapping of a recipient is not ECDH-ES+A256KW.',
  sealed_recipient_key_id: 'The kid of a recipient is not a non-empty string.',
  sealed_encrypted_key: 'An encrypted_key is not 40 bytes.',
  sealed_not_recipient: 'No recipient has this kid.',
  sealed_not_opened:
    'The package cannot be decrypted: it was altered, or sealed for another key with the same kid.',

  // Webhook signature (RFC 9421)
  webhook_value: 'A value is not allowed in a signed request. Use visible ASCII and an absolute https URL.',
  webhook_lifetime: 'The lifetime of a signature must be 1 to 300 seconds. Sign each attempt separately.',
  webhook_component_missing:
    'The request lacks a field that the signature must cover. Forward every field unchanged.',
  webhook_signature_malformed:
    'Signature or Signature-Input is malformed. Forward both unchanged, with each member once.',
  webhook_label: 'Signature and Signature-Input do not both have the label sig1.',
  webhook_components:
    'The covered components are not the eight of the profile, in its order, without parameters.',
  webhook_parameters: 'The parameters are not exactly created, expires, keyid, alg and tag.',
  webhook_key_missing: 'The parameter keyid is missing.',
  webhook_algorithm: 'The parameter alg is not ecdsa-p256-sha256.',
  webhook_tag: 'The parameter tag is not svc-webhook.',
  webhook_key_unknown: 'The keyid is not among the pinned keys. Refresh the notification key directory.',
  webhook_key_not_yet_valid: 'The key is not yet valid. Compare the clock with valid_from of the key.',
  webhook_key_retired: 'The key may no longer sign deliveries. Refresh the notification key directory.',
  webhook_key_revoked:
    'The key is revoked. Refuse the delivery, refresh the directory and inform the operator.',
  webhook_created_in_future: 'The signature was created in the future. Check the clock of this machine.',
  webhook_expired: 'The signature has expired. Check the clock; the next attempt has a new signature.',
  webhook_signature_encoding:
    'The signature is not the 64 bytes r||s in canonical base64 (DER is not accepted).',
  webhook_signature_mismatch:
    'The signature does not match the request. Compare signatureBase with the sent request: method, authority, ' +
    'path and fields must be those of the sender, before any proxy rewrote them.',
  webhook_body_digest: 'The body is not the signed body. Hash the exact bytes, before any parsing.',
  webhook_event_id: 'The body has no event_id equal to the field svc-event-id.',
} as const

/** All error codes. */
export type CryptoErrorCode = keyof typeof SENTENCES

export const CRYPTO_ERROR_CODES: readonly CryptoErrorCode[] = Object.keys(SENTENCES).filter(
  (name): name is CryptoErrorCode => Object.hasOwn(SENTENCES, name),
)

interface Circumstances {
  /** The location, in names of the protocol and never of the input: `jwe.recipients[1].header.epk`. */
  readonly at?: string | undefined
  /** Position in the JSON text, in UTF-16 code units. */
  readonly offset?: number | undefined
  /** The signature base that a webhook signature should cover, for comparison by a developer. */
  readonly signatureBase?: string | undefined
  readonly cause?: unknown
}

/** The error class of this package. Match on `code`; the message is for people. */
export class CryptoError extends Error {
  readonly code: CryptoErrorCode
  readonly at: string | undefined
  readonly offset: number | undefined
  readonly signatureBase: string | undefined

  constructor(code: CryptoErrorCode, { at, offset, signatureBase, cause }: Circumstances = {}) {
    super(
      at === undefined ? SENTENCES[code] : `${at}: ${SENTENCES[code]}`,
      cause === undefined ? {} : { cause },
    )
    this.name = 'CryptoError'
    this.code = code
    this.at = at
    this.offset = offset
    this.signatureBase = signatureBase
  }
}
