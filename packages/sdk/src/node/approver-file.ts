import {
  generateKeyPair,
  importPrivateJwk,
  importPublicJwk,
  jwkThumbprint,
  parseStrictJson,
  type PrivateKey,
  type PublicJwk,
} from '@agent-exchange/crypto'
import { shapeValidator, type Shape } from '@agent-exchange/protocol'
import { Type } from 'typebox'
import type { ApprovalScope, Approver } from '../drafts/approval.ts'
import { MINIMUM_PASSPHRASE_CHARACTERS } from '../drafts/draft-limits.ts'
import { ExchangeError } from '../errors.ts'
import { lockedKeysShape, privateJwkShape, publicJwkShape, type LockedKeys } from './file-key-store-format.ts'
import { createPassphraseLock } from './passphrase-cipher.ts'
import { isOpenToOthers, readPrivateFile, writePrivateFile } from './private-file.ts'

const FORMAT = 'aex-approver'
const VERSION = 1

const text = Type.String({ minLength: 1, maxLength: 512 })
const CLOSED = { additionalProperties: false }
const approverFileShape = Type.Object(
  {
    format: Type.Literal(FORMAT),
    version: Type.Literal(VERSION),
    key_id: text,
    created_at: text,
    approves: Type.Enum(['policy', 'every_draft']),
    public_jwk: publicJwkShape,
    /** The private key, encrypted by the approver passphrase. */
    locked: lockedKeysShape,
  },
  CLOSED,
)
export type ApproverFile = Shape<typeof approverFileShape>
const approverFile = shapeValidator(approverFileShape, 'SDK')
const privateJwk = shapeValidator(privateJwkShape, 'SDK')

/** The registered approver; undefined if the folder has none. Needs no passphrase. */
export async function readApprover(file: string): Promise<Approver | undefined> {
  const found = await readApproverFile(file)
  if (!found) return undefined
  try {
    const publicKey = await importPublicJwk(found.public_jwk, { use: 'signing' })
    return { keyId: found.key_id, publicKey, createdAt: found.created_at, approves: found.approves }
  } catch (cause) {
    throw new ExchangeError('approver_unreadable', { details: { file }, cause })
  }
}

/** The approver's private key. Fails with `approver_locked` if the passphrase is wrong. */
export async function unlockApprover(
  file: string,
  passphrase: string,
): Promise<{ readonly key: PrivateKey; readonly keyId: string }> {
  const found = await readApproverFile(file)
  if (!found) throw new ExchangeError('approver_missing')
  if (passphrase === '') throw new ExchangeError('approver_locked')
  const opened = await createPassphraseLock(passphrase)
    .unlock(found.locked)
    .catch(() => {
      throw new ExchangeError('approver_locked')
    })
  const jwk: unknown = JSON.parse(opened)
  if (!privateJwk.accepts(jwk) || (await keyIdOf(jwk)) !== found.key_id)
    throw new ExchangeError('approver_unreadable', { details: { file } })
  return { keyId: found.key_id, key: await importPrivateJwk(jwk, { use: 'signing' }) }
}

export interface NewApprover {
  readonly passphrase: string
  readonly approves?: ApprovalScope
  readonly now: Date
  /** scrypt's parameters. */
  readonly cost?: Pick<LockedKeys, 'n' | 'r' | 'p'>
}

/** Generates the approver's key and writes the file, in one step. Returns the private key of the new approver. */
export async function writeApprover(
  file: string,
  { passphrase, approves = 'policy', now, cost }: NewApprover,
): Promise<{ readonly key: PrivateKey; readonly keyId: string }> {
  requirePassphrase(passphrase)
  const { publicKey, privateKey: key, privateJwk: jwk } = await generateKeyPair('signing')
  const content: ApproverFile = {
    format: FORMAT,
    version: VERSION,
    key_id: await keyIdOf(publicKey.jwk),
    created_at: now.toISOString(),
    approves,
    public_jwk: publicKey.jwk,
    locked: await createPassphraseLock(passphrase, cost).lock(JSON.stringify(jwk)),
  }
  await writePrivateFile(file, `${JSON.stringify(content, undefined, 2)}\n`)
  return { key, keyId: content.key_id }
}

function requirePassphrase(passphrase: string): void {
  if (Array.from(passphrase).length < MINIMUM_PASSPHRASE_CHARACTERS)
    throw new ExchangeError('input_invalid', {
      what: `Choose an approver passphrase of at least ${MINIMUM_PASSPHRASE_CHARACTERS} characters.`,
    })
}

async function keyIdOf({ kty, crv, x, y }: PublicJwk): Promise<string> {
  return `approver_${await jwkThumbprint({ kty, crv, x, y })}`
}

/** With the private key as it is stored: encrypted by the approver passphrase. */
export async function readApproverFile(file: string): Promise<ApproverFile | undefined> {
  const unreadable = (cause?: unknown) =>
    new ExchangeError('approver_unreadable', { details: { file }, cause })
  const found = await readPrivateFile(file).catch((cause: unknown) => {
    throw unreadable(cause)
  })
  if (!found) return undefined
  if (isOpenToOthers(found.mode, 'any')) throw unreadable()
  let content: unknown
  try {
    content = parseStrictJson(found.text)
  } catch (cause) {
    throw unreadable(cause)
  }
  if (approverFile.accepts(content) && (await keyIdOf(content.public_jwk)) === content.key_id) return content
  throw unreadable()
}
