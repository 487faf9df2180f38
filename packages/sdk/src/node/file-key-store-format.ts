import type { PrivateJwk, PublicJwk } from '@agent-exchange/crypto'
import { shapeValidator, type Shape } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import type { OwnKey } from '../keys/key-store.ts'

/** Where the private part is: in the file, or at a key provider under this reference. */
export type PrivatePart = { readonly privateJwk: PrivateJwk } | { readonly reference: string }

/** A key with its private part, as it never leaves the store. */
export type StoredKey = OwnKey & PrivatePart

export const KEY_FILE_FORMAT = 'aex-keys'
export const KEY_FILE_VERSION = 1
/** Bounds of what a file may ask for: a damaged one must not eat the memory (128·n·r bytes). */
const MAXIMUM_N = 1_048_576
const MAXIMUM_R = 16
const MAXIMUM_P = 4
const MAXIMUM_KEYS = 10_000
const MAXIMUM_REVOCATIONS = 1_000

const text = Type.String({ minLength: 1 })
const CLOSED = { additionalProperties: false }
const integer = (maximum: number) => Type.Integer({ minimum: 1, maximum })

const jwkMembers = { kty: Type.Literal('EC'), crv: Type.Literal('P-256'), x: text, y: text }
export const publicJwkShape = Type.Unsafe<PublicJwk>(Type.Object(jwkMembers, CLOSED))
export const privateJwkShape = Type.Unsafe<PrivateJwk>(Type.Object({ ...jwkMembers, d: text }, CLOSED))
const recordMembers = {
  key_id: text,
  role: Type.Enum(['client', 'signing', 'encryption']),
  stage: Type.Enum(['next', 'current', 'previous']),
  created_at: text,
  replaces: Type.Optional(text),
  revocations: Type.Optional(Type.Array(text, { maxItems: MAXIMUM_REVOCATIONS })),
}
const keyRecord = Type.Union([
  Type.Object({ ...recordMembers, private_jwk: privateJwkShape }, CLOSED),
  Type.Object({ ...recordMembers, public_jwk: publicJwkShape, reference: text }, CLOSED),
])
type KeyRecord = Shape<typeof keyRecord>
const records = Type.Array(keyRecord, { maxItems: MAXIMUM_KEYS })

/** What a passphrase protects, and how. All but the tag and the ciphertext is known before and bound to them. */
export const lockedKeysShape = Type.Object(
  {
    kdf: Type.Literal('scrypt'),
    n: integer(MAXIMUM_N),
    r: integer(MAXIMUM_R),
    p: integer(MAXIMUM_P),
    salt: text,
    iv: text,
    tag: text,
    ciphertext: text,
  },
  CLOSED,
)
export type LockedKeys = Shape<typeof lockedKeysShape>

const envelope = { format: Type.Literal(KEY_FILE_FORMAT), version: Type.Literal(KEY_FILE_VERSION) }
const keyFileShape = Type.Union([
  Type.Object({ ...envelope, keys: records }, CLOSED),
  Type.Object({ ...envelope, locked: lockedKeysShape }, CLOSED),
])

export const keyFile = shapeValidator(keyFileShape, 'SDK')
export const keyRecords = shapeValidator(records, 'SDK')

export function toRecord(key: StoredKey): KeyRecord {
  const { keyId, role, stage, createdAt, replaces, revocations } = key
  return {
    key_id: keyId,
    role,
    stage,
    created_at: createdAt,
    ...(replaces !== undefined && { replaces }),
    ...(revocations && { revocations }),
    ...('reference' in key
      ? { public_jwk: key.publicJwk, reference: key.reference }
      : { private_jwk: key.privateJwk }),
  }
}

export function fromRecord(key: KeyRecord): StoredKey {
  return {
    keyId: key.key_id,
    role: key.role,
    stage: key.stage,
    createdAt: key.created_at,
    ...(key.replaces !== undefined && { replaces: key.replaces }),
    ...(key.revocations && { revocations: key.revocations }),
    ...partsOf(key),
  }
}

function partsOf(key: KeyRecord): Pick<OwnKey, 'publicJwk'> & PrivatePart {
  if ('reference' in key) return { publicJwk: key.public_jwk, reference: key.reference }
  const { d: _, ...publicJwk } = key.private_jwk
  return { publicJwk, privateJwk: key.private_jwk }
}
