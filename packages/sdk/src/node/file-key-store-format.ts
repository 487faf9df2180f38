import type { PrivateJwk } from '@agent-exchange/crypto'
import { validatorFor, type JsonObject } from '@agent-exchange/protocol'
import type { KeyRole, KeyStage, OwnKey } from '../keys/key-store.ts'

/** A key with its private part, as it never leaves the store. */
export interface StoredKey extends OwnKey {
  readonly privateJwk: PrivateJwk
}

interface KeyRecord {
  readonly key_id: string
  readonly role: KeyRole
  readonly stage: KeyStage
  readonly created_at: string
  readonly replaces?: string
  readonly revocations?: readonly string[]
  readonly private_jwk: PrivateJwk
}

/** What a passphrase protects, and how. All but the tag and the ciphertext is known before and bound to them. */
export interface LockedKeys {
  readonly kdf: 'scrypt'
  readonly n: number
  readonly r: number
  readonly p: number
  readonly salt: string
  readonly iv: string
  readonly tag: string
  readonly ciphertext: string
}

export type KeyFile = {
  readonly format: typeof KEY_FILE_FORMAT
  readonly version: typeof KEY_FILE_VERSION
} & ({ readonly keys: readonly KeyRecord[] } | { readonly locked: LockedKeys })

export const KEY_FILE_FORMAT = 'aex-keys'
export const KEY_FILE_VERSION = 1
/** Bounds of what a file may ask for: a damaged one must not eat the memory (128·n·r bytes). */
const MAXIMUM_N = 1_048_576
const MAXIMUM_R = 16
const MAXIMUM_P = 4
const MAXIMUM_KEYS = 10_000
const MAXIMUM_REVOCATIONS = 1_000

const text = { type: 'string', minLength: 1 }
const integer = (maximum: number) => ({ type: 'integer', minimum: 1, maximum })
export const PRIVATE_JWK_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['kty', 'crv', 'x', 'y', 'd'],
  properties: { kty: { const: 'EC' }, crv: { const: 'P-256' }, x: text, y: text, d: text },
}
const record = {
  type: 'object',
  additionalProperties: false,
  required: ['key_id', 'role', 'stage', 'created_at', 'private_jwk'],
  properties: {
    key_id: text,
    role: { enum: ['client', 'signing', 'encryption'] },
    stage: { enum: ['next', 'current', 'previous'] },
    created_at: text,
    replaces: text,
    revocations: { type: 'array', maxItems: MAXIMUM_REVOCATIONS, items: text },
    private_jwk: PRIVATE_JWK_SCHEMA,
  },
}
const records = { type: 'array', maxItems: MAXIMUM_KEYS, items: record }
export const LOCKED_SCHEMA = {
  type: 'object',
  additionalProperties: false,
  required: ['kdf', 'n', 'r', 'p', 'salt', 'iv', 'tag', 'ciphertext'],
  properties: {
    kdf: { const: 'scrypt' },
    n: integer(MAXIMUM_N),
    r: integer(MAXIMUM_R),
    p: integer(MAXIMUM_P),
    salt: text,
    iv: text,
    tag: text,
    ciphertext: text,
  },
}
const envelope = { format: { const: KEY_FILE_FORMAT }, version: { const: KEY_FILE_VERSION } }

const fileWith = (name: string, content: JsonObject) => ({
  type: 'object',
  additionalProperties: false,
  required: ['format', 'version', name],
  properties: { ...envelope, [name]: content },
})

export const keyFile = validatorFor<KeyFile>(
  { oneOf: [fileWith('keys', records), fileWith('locked', LOCKED_SCHEMA)] },
  'SDK',
)

export const keyRecords = validatorFor<readonly KeyRecord[]>(records, 'SDK')

export function toRecord(key: StoredKey): KeyRecord {
  const { keyId, role, stage, createdAt, replaces, revocations, privateJwk } = key
  return {
    key_id: keyId,
    role,
    stage,
    created_at: createdAt,
    ...(replaces !== undefined && { replaces }),
    ...(revocations && { revocations }),
    private_jwk: privateJwk,
  }
}

export function fromRecord(key: KeyRecord): StoredKey {
  const { d: _, ...publicJwk } = key.private_jwk
  return {
    keyId: key.key_id,
    role: key.role,
    stage: key.stage,
    publicJwk,
    createdAt: key.created_at,
    ...(key.replaces !== undefined && { replaces: key.replaces }),
    ...(key.revocations && { revocations: key.revocations }),
    privateJwk: key.private_jwk,
  }
}
