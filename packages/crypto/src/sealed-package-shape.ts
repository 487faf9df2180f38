import { CONTENT_ENCRYPTION, KEY_WRAPPING, MEDIA_TYPE, PROTOCOL_VERSION } from '@agent-exchange/protocol'
import { decodeBase64url } from './base64.ts'
import { closedObject } from './closed-object.ts'
import type { Curve } from './curves.ts'
import { CryptoError, type CryptoErrorCode } from './errors.ts'
import { readEphemeralJwk } from './jwk-shape.ts'
import { parseStrictJson, type InspectJson } from './strict-json.ts'

/** `epk` is kept as sent, because digests cover it; parse it as a public key. */
export interface SealedRecipient {
  readonly encrypted_key: string
  readonly header: { readonly alg: typeof KEY_WRAPPING; readonly epk: unknown; readonly kid: string }
}

/** A General JWE (RFC 7516 section 7.2.1), restricted to the form of the protocol. */
export interface SealedPackage {
  readonly aad: string
  readonly ciphertext: string
  readonly iv: string
  readonly protected: string
  readonly recipients: readonly [sender: SealedRecipient, recipient: SealedRecipient]
  readonly tag: string
}

export interface SealedOptions {
  /** Allowed values of the inner `cty` (open point O-35). */
  readonly contentTypes?: readonly string[]
  /** Curves of the ephemeral keys (open point O-28). */
  readonly curves?: readonly Curve[]
  /** Called with each JSON text inside before it is parsed; may throw. */
  readonly inspect?: InspectJson
}

export const IV_LENGTH = 12
export const TAG_LENGTH = 16
/** A 256-bit key under AES key wrap (RFC 3394) grows by 8 bytes. */
const ENCRYPTED_KEY_LENGTH = 40

/** PKG-02: every check of a sealed package that needs no private key. */
export function readSealedPackage(value: unknown, options: SealedOptions = {}): SealedPackage {
  const members = ['aad', 'ciphertext', 'iv', 'protected', 'recipients', 'tag'] as const
  const jwe = closedObject(value, members, 'sealed_members', 'jwe')
  return {
    protected: readProtectedHeader(jwe.protected, options),
    // RFC 7516 section 7.2.1: an empty aad is omitted, which the protocol does not allow.
    aad: readBytes(jwe.aad, 'jwe.aad', 'sealed_aad', isNotEmpty),
    iv: readBytes(jwe.iv, 'jwe.iv', 'sealed_iv', (length) => length === IV_LENGTH),
    // A reasoning package is never empty, so its ciphertext is not empty either.
    ciphertext: readBytes(jwe.ciphertext, 'jwe.ciphertext', 'sealed_ciphertext', isNotEmpty),
    tag: readBytes(jwe.tag, 'jwe.tag', 'sealed_tag', (length) => length === TAG_LENGTH),
    recipients: readRecipients(jwe.recipients, options.curves),
  }
}

function readProtectedHeader(encoded: unknown, { contentTypes, inspect }: SealedOptions): string {
  const at = 'jwe.protected'
  if (typeof encoded !== 'string') throw new CryptoError('sealed_members', { at })
  const json = parseStrictJson(decodeBase64url(encoded, at), { ...(inspect && { inspect }), at })
  const header = closedObject(json, ['cty', 'enc', 'syv', 'typ'], 'sealed_header_members', at)
  if (header.enc !== CONTENT_ENCRYPTION) throw new CryptoError('sealed_encryption', { at })
  if (header.typ !== MEDIA_TYPE.sealedJwe) throw new CryptoError('sealed_type', { at })
  if (!(contentTypes ?? [MEDIA_TYPE.reasoningPackage]).some((type) => type === header.cty))
    throw new CryptoError('sealed_content_type', { at })
  if (header.syv !== PROTOCOL_VERSION) throw new CryptoError('sealed_version', { at })
  return encoded
}

function readRecipients(value: unknown, curves: readonly Curve[] | undefined): SealedPackage['recipients'] {
  const at = 'jwe.recipients'
  if (!Array.isArray(value) || value.length !== 2) throw new CryptoError('sealed_recipient_count', { at })
  const sender = readRecipient(value[0], `${at}[0]`, curves)
  const recipient = readRecipient(value[1], `${at}[1]`, curves)
  // The two kids may be equal, because a key id is unique only within an agent.
  return [sender, recipient]
}

function readRecipient(value: unknown, at: string, curves: readonly Curve[] | undefined): SealedRecipient {
  const recipient = closedObject(value, ['encrypted_key', 'header'], 'sealed_recipient_members', at)
  const header = closedObject(recipient.header, ['alg', 'epk', 'kid'], 'sealed_recipient_members', at)
  const { alg, epk, kid } = header
  if (alg !== KEY_WRAPPING) throw new CryptoError('sealed_recipient_algorithm', { at })
  if (typeof kid !== 'string' || kid === '') throw new CryptoError('sealed_recipient_key_id', { at })
  readEphemeralJwk(epk, { at: `${at}.header.epk`, ...(curves !== undefined && { curves }) })
  const encrypted_key = readBytes(
    recipient.encrypted_key,
    `${at}.encrypted_key`,
    'sealed_encrypted_key',
    (length) => length === ENCRYPTED_KEY_LENGTH,
  )
  return { encrypted_key, header: { alg, epk, kid } }
}

function readBytes(
  text: unknown,
  at: string,
  code: CryptoErrorCode,
  fits: (length: number) => boolean,
): string {
  if (typeof text !== 'string') throw new CryptoError(code, { at })
  if (!fits(decodeBase64url(text, at).length)) throw new CryptoError(code, { at })
  return text
}

function isNotEmpty(length: number): boolean {
  return length > 0
}
