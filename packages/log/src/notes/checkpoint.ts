import { encodeBase64 } from '@agent-exchange/crypto'
import { hashFromBase64, parseDecimal } from '../bytes.ts'
import { LogError } from '../errors.ts'
import { requireHashes, requireSizes } from '../merkle/tree-hash.ts'
import { parseNote } from './note.ts'
import { SIGNATURE_TYPE, type VerifierKey } from './verifier-key.ts'
import { verifyNote, type VerifiedSignature } from './verify-note.ts'

/** C2SP tlog-checkpoint: the head of a tree. */
export interface Checkpoint {
  readonly origin: string
  readonly size: number
  readonly root: Uint8Array
}

/** The text that a log signs. We write no extension lines: monitors cannot audit them. */
export function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  requireSizes(size)
  requireHashes(root)
  if (origin === '' || origin.includes('\n')) throw new LogError('checkpoint_malformed')
  return `${origin}\n${size}\n${encodeBase64(root)}\n`
}

/** From the text of a note. Extension lines are allowed and have no meaning to us. */
export function parseCheckpoint(text: string): Checkpoint {
  const [origin = '', sizeText = '', rootText = '', ...extensions] = text.slice(0, -1).split('\n')
  const size = parseDecimal(sizeText)
  const root = hashFromBase64(rootText)
  const isWhole = text.endsWith('\n') && origin !== '' && !extensions.includes('')
  if (!isWhole || size === undefined || root === undefined) throw new LogError('checkpoint_malformed')
  return { origin, size, root }
}

export interface OpenedCheckpoint extends Checkpoint {
  /** Signatures by the given keys, all verified. */
  readonly signatures: readonly VerifiedSignature[]
}

/**
 * Verifies a checkpoint: one of the log keys, whose name is the origin, signed it. Witness keys may be among `keys`;
 * their cosignatures come back with their times.
 */
export async function openCheckpoint(
  content: string | Uint8Array,
  keys: readonly VerifierKey[],
): Promise<OpenedCheckpoint> {
  const note = parseNote(content)
  const checkpoint = parseCheckpoint(note.text)
  const signatures = await verifyNote(note, keys)
  const byLog = signatures.filter(({ key }) => key.type === SIGNATURE_TYPE.ed25519)
  if (byLog.length === 0) throw new LogError('note_unsigned')
  if (!byLog.some(({ key }) => key.name === checkpoint.origin)) throw new LogError('checkpoint_origin')
  return { ...checkpoint, signatures }
}
