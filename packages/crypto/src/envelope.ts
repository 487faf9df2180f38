import { MEDIA_TYPE, PROTOCOL_VERSION, SIGNATURE_ALGORITHM } from '@agent-exchange/protocol'
import { decodeBase64url, encodeBase64url } from './base64.ts'
import { canonicalBytes } from './canonical-json.ts'
import { closedObject } from './closed-object.ts'
import { CryptoError } from './errors.ts'
import { SIGNATURE_LENGTH, signEs256, verifyEs256 } from './es256.ts'
import type { PrivateKey, PublicKey } from './keys.ts'
import { readSealedPackage, type SealedOptions, type SealedPackage } from './sealed-package-shape.ts'
import { parseStrictJson, parseWithSpans, type JsonValue, type StrictJsonOptions } from './strict-json.ts'

/** A Flattened JWS (RFC 7515 section 7.2.2), restricted to the form of the protocol. */
export interface Envelope {
  readonly protected: string
  readonly payload: string
  readonly signature: string
}

export interface ParsedEnvelope {
  /** The id of the claimed signing key. */
  readonly kid: string
  /** The members as sent, each of them canonical base64url. */
  readonly text: Envelope
  /** The decoded member `payload`. */
  readonly payload: Uint8Array
  /** Package metadata as sent; its schema is checked elsewhere. */
  readonly metadata: unknown
  readonly jwe: SealedPackage
  /** The exact text of `jwe` in the payload, for the digest rule `jwe-text`. */
  readonly jweText: string
  readonly signingInput: Uint8Array
  readonly signature: Uint8Array
}

export interface EnvelopeOptions extends SealedOptions {
  readonly maxDepth?: number
}

const encoder = new TextEncoder()

/**
 * Signs metadata and sealed content together. The payload is in RFC 8785 form, so the digest over the text of `jwe`
 * equals the digest over its canonical form.
 *
 * @example
 * const envelope = await signEnvelope({ metadata, jwe }, { key, kid: 'key_a' })
 * await fetch(url, { method: 'POST', body: JSON.stringify(envelope) })
 */
export async function signEnvelope(
  { metadata, jwe }: { readonly metadata: object; readonly jwe: SealedPackage },
  { key, kid }: { readonly key: PrivateKey; readonly kid: string },
): Promise<Envelope> {
  if (kid === '') throw new CryptoError('envelope_key_id')
  const header = {
    alg: SIGNATURE_ALGORITHM,
    cty: MEDIA_TYPE.exchangeEnvelope,
    kid,
    syv: PROTOCOL_VERSION,
    typ: MEDIA_TYPE.exchangeJws,
  }
  const encodedHeader = encodeBase64url(canonicalBytes(header))
  const payload = encodeBase64url(canonicalBytes({ metadata, jwe }))
  const signature = await signEs256(key, encoder.encode(`${encodedHeader}.${payload}`))
  return { protected: encodedHeader, payload, signature: encodeBase64url(signature) }
}

/**
 * PKG-01, PKG-02: parses an envelope without a private key, and refuses every deviation from the form of the protocol.
 * It does not verify the signature: see {@link verifyEnvelope}.
 */
export function parseEnvelope(input: string | Uint8Array, options: EnvelopeOptions = {}): ParsedEnvelope {
  const depth = options.maxDepth === undefined ? {} : { maxDepth: options.maxDepth }
  return readEnvelope(parseStrictJson(input, { ...depth, at: 'envelope' }), options)
}

/** Like {@link parseEnvelope}, for a caller that has already parsed the outer JSON strictly. */
export function readEnvelope(outer: JsonValue, options: EnvelopeOptions = {}): ParsedEnvelope {
  const depth = options.maxDepth === undefined ? {} : { maxDepth: options.maxDepth }
  const envelope = readMembers(outer)
  const inspect = options.inspect && { inspect: options.inspect }
  const kid = readHeader(envelope.protected, inspect)
  const signature = decodeBase64url(envelope.signature, 'signature')
  if (signature.length !== SIGNATURE_LENGTH) throw new CryptoError('signature_encoding', { at: 'signature' })
  const payload = decodeBase64url(envelope.payload, 'payload')
  const { text, value, spans } = parseWithSpans(payload, { ...depth, ...inspect, at: 'payload' })
  const members = closedObject(value, ['metadata', 'jwe'], 'envelope_payload_members', 'payload')
  const span = spans.get('jwe')
  return {
    kid,
    text: envelope,
    payload,
    metadata: members.metadata,
    jwe: readSealedPackage(members.jwe, options),
    jweText: text.slice(span?.start, span?.end),
    signingInput: encoder.encode(`${envelope.protected}.${envelope.payload}`),
    signature,
  }
}

/** Verifies the signature with the key of `kid`; throws if it is invalid. */
export async function verifyEnvelope(parsed: ParsedEnvelope, publicKey: PublicKey): Promise<void> {
  if (!(await verifyEs256(publicKey, parsed.signingInput, parsed.signature))) {
    throw new CryptoError('signature_mismatch')
  }
}

function readMembers(value: unknown): Envelope {
  const members = closedObject(value, ['protected', 'payload', 'signature'], 'envelope_members')
  const { protected: header, payload, signature } = members
  if (typeof header !== 'string' || typeof payload !== 'string' || typeof signature !== 'string') {
    throw new CryptoError('envelope_members')
  }
  return { protected: header, payload, signature }
}

/** RFC 7515 section 4.1: crit, b64, jwk, jku, x5c and every other extra parameter are refused. */
function readHeader(encoded: string, inspect?: Pick<StrictJsonOptions, 'inspect'>): string {
  const at = 'protected'
  const json = parseStrictJson(decodeBase64url(encoded, at), { ...inspect, at })
  const header = closedObject(json, ['alg', 'cty', 'kid', 'syv', 'typ'], 'envelope_header_members', at)
  if (header.alg !== SIGNATURE_ALGORITHM) throw new CryptoError('envelope_algorithm', { at })
  if (header.typ !== MEDIA_TYPE.exchangeJws) throw new CryptoError('envelope_type', { at })
  if (header.cty !== MEDIA_TYPE.exchangeEnvelope) throw new CryptoError('envelope_content_type', { at })
  if (header.syv !== PROTOCOL_VERSION) throw new CryptoError('envelope_version', { at })
  if (typeof header.kid !== 'string' || header.kid === '') throw new CryptoError('envelope_key_id', { at })
  return header.kid
}
