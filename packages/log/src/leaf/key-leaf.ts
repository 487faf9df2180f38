import { CryptoError, decodeBase64url } from '@agent-exchange/crypto'
import { concatBytes } from '../bytes.ts'
import { LogError } from '../errors.ts'
import { HASH_LENGTH } from '../merkle/tree-hash.ts'
import { hashFields, requireLength, TAG } from './leaf-encoding.ts'
import { SALT_LENGTH } from './salt.ts'

/** What labels a key event. The number counts all key events of the agent, from 1 and without gaps. */
export interface KeyEventSubject {
  readonly agentId: string
  readonly number: number
}

/** An event in the life of a key of an agent, or of the platform. */
export interface KeyEvent extends KeyEventSubject {
  readonly organizationId: string
  readonly keyId: string
  /** Such as registered, retiring or revoked. */
  readonly kind: string
  /** Such as signing or encryption. */
  readonly use: string
  /** RFC 7638, SHA-256, in base64url: which key it is. */
  readonly thumbprint: string
  readonly validFrom: string
  readonly recordedAt: string
  /** Of a revocation: from when on the key does not count. */
  readonly invalidFrom?: string | undefined
}

/** The key id is left out on purpose: an agent must find an event of a key that it never registered. */
export function keyLabel({ agentId, number }: KeyEventSubject): Uint8Array {
  if (number < 1) throw new LogError('leaf_field')
  return hashFields(TAG.keyLabel, [agentId, number])
}

export function keyCommitment(event: KeyEvent, salt: Uint8Array): Uint8Array {
  return hashFields(TAG.keyCommitment, [
    requireLength(salt, SALT_LENGTH),
    event.organizationId,
    event.agentId,
    event.number,
    event.keyId,
    event.kind,
    event.use,
    readThumbprint(event.thumbprint),
    event.validFrom,
    event.recordedAt,
    event.invalidFrom ?? '',
  ])
}

/** The log entry of a key event. */
export function keyLeaf(event: KeyEvent, salt: Uint8Array): Uint8Array {
  return concatBytes(keyLabel(event), keyCommitment(event, salt))
}

function readThumbprint(text: string): Uint8Array {
  try {
    return requireLength(decodeBase64url(text), HASH_LENGTH)
  } catch (cause) {
    if (cause instanceof CryptoError) throw new LogError('leaf_field', { cause })
    throw cause
  }
}
