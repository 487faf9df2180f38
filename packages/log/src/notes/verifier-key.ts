import { bytesEqual, decodeBase64, encodeBase64, sha256Sync } from '@agent-exchange/crypto'
import { concatBytes, fromHex, toHex, utf8 } from '../bytes.ts'
import { LogError } from '../errors.ts'
import { ED25519_KEY_LENGTH } from './ed25519.ts'

/** C2SP signed-note signature types that we verify. */
export const SIGNATURE_TYPE = { ed25519: 0x01, cosignature: 0x04 } as const
export type SignatureType = (typeof SIGNATURE_TYPE)[keyof typeof SIGNATURE_TYPE]

/** Longest text of a key that is read. */
const MAXIMUM_KEY_TEXT = 4_096
const ID_LENGTH = 4

/** A public key of a log (type 0x01) or of a witness (type 0x04). */
export interface VerifierKey {
  readonly name: string
  readonly type: SignatureType
  readonly publicKey: Uint8Array
  /** Four bytes in hexadecimal. Together with the name it finds the key; it is no fingerprint. */
  readonly id: string
}

export function verifierKey(name: string, type: SignatureType, publicKey: Uint8Array): VerifierKey {
  if (!isKeyName(name)) throw new LogError('key_name')
  if (publicKey.length !== ED25519_KEY_LENGTH) throw new LogError('key_malformed')
  return { name, type, publicKey, id: toHex(keyId(name, type, publicKey)) }
}

/** The vkey text form: name, key id and key, with plus signs between them. */
export function formatVerifierKey({ name, type, publicKey, id }: VerifierKey): string {
  return `${name}+${id}+${encodeBase64(Uint8Array.of(type, ...publicKey))}`
}

export function parseVerifierKey(text: string): VerifierKey {
  const { name, id, type, material } = splitKeyText(text)
  const key = verifierKey(name, type, material)
  if (key.id !== id) throw new LogError('key_id')
  return key
}

/** Base64 may hold plus signs, names and ids never do: the first two separate. */
export function splitKeyText(text: string) {
  const [, name = '', id = '', encoded = ''] =
    /^([^+]*)\+([0-9a-f]{8})\+([A-Za-z0-9+/]+=*)$/u.exec(text) ?? []
  const bytes = text.length <= MAXIMUM_KEY_TEXT ? decodeBase64(encoded) : undefined
  const type = bytes?.[0]
  if (bytes === undefined || type === undefined || fromHex(id) === undefined)
    throw new LogError('key_malformed')
  if (!isSupported(type)) throw new LogError('key_type')
  return { name, id, type, material: bytes.subarray(1) }
}

/** C2SP signed-note: not empty, no Unicode space, no plus sign. */
export function isKeyName(name: string): boolean {
  return name !== '' && name.isWellFormed() && !/[\s+\p{White_Space}\p{Cc}]/u.test(name)
}

export function isSameKey(left: VerifierKey, right: VerifierKey): boolean {
  return bytesEqual(left.publicKey, right.publicKey)
}

function isSupported(type: number): type is SignatureType {
  return type === SIGNATURE_TYPE.ed25519 || type === SIGNATURE_TYPE.cosignature
}

function keyId(name: string, type: number, publicKey: Uint8Array): Uint8Array {
  return sha256Sync(concatBytes(utf8(`${name}\n`), Uint8Array.of(type), publicKey)).subarray(0, ID_LENGTH)
}
