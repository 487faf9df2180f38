import { utf8 } from '../bytes.ts'
import { LogError } from '../errors.ts'
import { ED25519_SIGNATURE_LENGTH, verifyEd25519 } from './ed25519.ts'
import type { Note, NoteSignature } from './note.ts'
import { SIGNATURE_TYPE, type VerifierKey } from './verifier-key.ts'

const TIMESTAMP_LENGTH = 8
/** The last second of the year 9999: a later one has no ISO 8601 form that everybody reads. */
const LATEST_TIME = 253_402_300_799

/** A signature that holds. */
export interface VerifiedSignature {
  readonly key: VerifierKey
  /** Seconds since 1970 at which a witness cosigned; a log's own signature carries no time. */
  readonly time?: number
}

/**
 * C2SP signed-note: signatures by unknown keys are ignored, and one that names a known key and does not fit it makes
 * the whole note invalid. The result may be empty; the caller decides whose signatures it needs.
 */
export async function verifyNote(note: Note, keys: readonly VerifierKey[]): Promise<VerifiedSignature[]> {
  const verified: VerifiedSignature[] = []
  for (const signature of note.signatures)
    for (const key of keys.filter(({ name, id }) => name === signature.name && id === signature.id))
      verified.push(await verifyOne(note.text, signature, key))
  return verified
}

async function verifyOne(
  text: string,
  { bytes }: NoteSignature,
  key: VerifierKey,
): Promise<VerifiedSignature> {
  const isTimed = key.type === SIGNATURE_TYPE.cosignature
  const start = isTimed ? TIMESTAMP_LENGTH : 0
  const time = isTimed && bytes.length > start ? readTime(bytes) : undefined
  const isWhole = bytes.length === start + ED25519_SIGNATURE_LENGTH && isTimed === (time !== undefined)
  const message = time === undefined ? utf8(text) : cosignedMessage(text, time)
  if (!isWhole || !(await verifyEd25519(key.publicKey, message, bytes.subarray(start))))
    throw new LogError('note_signature_invalid')
  return { key, ...(time !== undefined && { time }) }
}

/** C2SP tlog-cosignature, "Ed25519 signed message". */
export function cosignedMessage(text: string, time: number): Uint8Array {
  return utf8(`cosignature/v1\ntime ${time}\n${text}`)
}

function readTime(bytes: Uint8Array): number {
  const time = Number(new DataView(bytes.buffer, bytes.byteOffset, TIMESTAMP_LENGTH).getBigUint64(0))
  if (time > LATEST_TIME) throw new LogError('note_time')
  return time
}
