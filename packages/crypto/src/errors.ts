/**
 * Every way in which this package refuses something, with the sentence its reader sees. The keys are
 * stable: programs match on them, and a sentence may be reworded. No sentence quotes input.
 */
const SENTENCES = {
  // Strict JSON and its canonical form
  json_encoding: 'The bytes are not UTF-8. Send JSON as UTF-8.',
  json_byte_order_mark: 'The text starts with a byte order mark. Send JSON without one.',
  json_syntax: 'The text is not one JSON value.',
  json_duplicate_member: 'An object repeats a member name. Every name may occur once.',
  json_lone_surrogate: 'A string holds half of a surrogate pair, which no UTF-8 text can carry.',
  json_number: 'A number does not survive as an IEEE 754 double. Send large integers as strings.',
  json_depth: 'Arrays and objects are nested deeper than allowed.',
  json_not_representable: 'The value holds something that JSON cannot carry unchanged.',

  // Encodings and digests
  base64url_invalid: 'The text is not canonical base64url: no padding, no whitespace, unused bits zero.',
  digest_malformed: 'The digest is not of the form sha-256=:BASE64: over 32 bytes.',
  digest_missing: 'Content-Digest has no sha-256 member.',

  // Keys
  key_malformed: 'The key is not a JSON Web Key object.',
  key_private_material: 'The key holds private material. Send only the public members, and replace this key.',
  key_private_missing: 'The key has no private part.',
  key_member_unknown:
    'An ephemeral key has a member other than kty, crv, x, y, kid, alg, use, key_ops and ext.',
  key_type_unsupported: 'The key type is not EC.',
  key_curve_unsupported: 'The curve is not allowed here.',
  key_coordinate_invalid:
    'A key member is not canonical base64url of the length and range that its curve fixes.',
  key_not_on_curve: 'The coordinates are not a point on the curve.',
  key_use_mismatch: 'The key says of itself that it serves another use.',
  key_pair_mismatch: 'The private part does not belong to the public part.',

  // Detached signatures
  signature_malformed: 'The signature is not an object of exactly key_id, algorithm and signature.',
  signature_algorithm: 'The signature algorithm is not ES256.',
  signature_encoding: 'The signature is not 64 bytes of r and s in base64url or base64 (never DER).',
  signature_mismatch: 'The signature does not fit the content and the key.',

  // Exchange envelope (Flattened JWS)
  envelope_members: 'The envelope is not an object of exactly protected, payload and signature, all strings.',
  envelope_header_members: 'The protected header does not have exactly alg, cty, kid, syv and typ.',
  envelope_algorithm: 'The envelope algorithm is not ES256.',
  envelope_type: 'The envelope typ is not the one of an exchange envelope.',
  envelope_content_type: 'The envelope cty is not the one of an exchange envelope.',
  envelope_version: 'The envelope syv is not the protocol version.',
  envelope_key_id: 'The envelope kid is not a non-empty string.',
  envelope_payload_members: 'The payload is not an object of exactly metadata and jwe.',

  // Sealed package (General JWE)
  sealed_members: 'The jwe does not have exactly aad, ciphertext, iv, protected, recipients and tag.',
  sealed_header_members: 'The JWE protected header does not have exactly cty, enc, syv and typ.',
  sealed_encryption: 'The content encryption is not A256GCM.',
  sealed_type: 'The JWE typ is not the one of a sealed package.',
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
  sealed_not_opened: 'The package does not open: it was altered, or sealed to another key of the same kid.',

  // Webhook signature (RFC 9421)
  webhook_value: 'A value cannot stand in a signed request. Use visible ASCII and an absolute https address.',
  webhook_lifetime: 'A signature lives at least one second and at most 300. Sign each attempt anew.',
  webhook_component_missing:
    'The request lacks a field that the signature must cover. Pass on every field as received.',
  webhook_signature_malformed:
    'Signature or Signature-Input is not well formed. Pass both on unchanged, each member once.',
  webhook_label: 'Signature and Signature-Input do not both carry the label sig1.',
  webhook_components:
    'The covered components are not the eight of the profile, in its order, without parameters.',
  webhook_parameters: 'The parameters are not exactly created, expires, keyid, alg and tag.',
  webhook_key_missing: 'The signature names no key: the parameter keyid is absent.',
  webhook_algorithm: 'The parameter alg is not ecdsa-p256-sha256.',
  webhook_tag: 'The parameter tag is not svc-webhook.',
  webhook_key_unknown: 'The keyid is not among the pinned keys. Refresh the notification key directory.',
  webhook_key_not_yet_valid: 'The key is not valid yet. Compare the clock with the valid_from of the key.',
  webhook_key_retired: 'The key no longer signs new deliveries. Refresh the notification key directory.',
  webhook_key_revoked:
    'The key is revoked. Refuse the delivery, refresh the directory and tell the operator.',
  webhook_created_in_future: 'The signature was created in the future. Check the clock of this machine.',
  webhook_expired: 'The signature has expired. Check the clock; the next attempt is signed anew.',
  webhook_signature_encoding: 'The signature is not 64 bytes of r and s in canonical base64 (never DER).',
  webhook_signature_mismatch:
    'The signature does not fit the request. Compare signatureBase with what was sent: method, authority, ' +
    'path and fields must be those the sender saw, before any proxy rewrote them.',
  webhook_body_digest: 'The body is not the one that was signed. Hash the exact bytes, before any parsing.',
  webhook_event_id: 'The body has no event_id equal to the field svc-event-id.',
} as const

/** The closed set of reasons. */
export type CryptoErrorCode = keyof typeof SENTENCES

export const CRYPTO_ERROR_CODES: readonly CryptoErrorCode[] = Object.keys(SENTENCES).filter(
  (name): name is CryptoErrorCode => Object.hasOwn(SENTENCES, name),
)

interface Circumstances {
  /** Where, in names of the protocol and never of the input: `jwe.recipients[1].header.epk`. */
  readonly at?: string | undefined
  /** Position in the JSON text, in UTF-16 code units. */
  readonly offset?: number | undefined
  /** What a webhook's signature should have covered, so that a developer can compare. */
  readonly signatureBase?: string | undefined
  readonly cause?: unknown
}

/** The one error of this package. Match on `code`; the message is for people. */
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
