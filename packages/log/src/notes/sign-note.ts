import { encodeBase64 } from '@agent-exchange/crypto'
import { concatBytes, fromHex, uint64, utf8 } from '../bytes.ts'
import { LogError } from '../errors.ts'
import { ED25519_KEY_LENGTH, importSeed, type Ed25519Sign } from './ed25519.ts'
import { parseNote, requireNoteText, withSignatures } from './note.ts'
import {
  SIGNATURE_TYPE,
  splitKeyText,
  verifierKey,
  type SignatureType,
  type VerifierKey,
} from './verifier-key.ts'
import { cosignedMessage } from './verify-note.ts'

/** A key that signs notes; where the private key lives is up to whoever made it. */
export interface NoteSigner {
  readonly key: VerifierKey
  readonly sign: Ed25519Sign
}

const PRIVATE_PREFIX = 'PRIVATE+KEY+'

/** From a seed of 32 random bytes. */
export async function noteSigner(name: string, type: SignatureType, seed: Uint8Array): Promise<NoteSigner> {
  if (seed.length !== ED25519_KEY_LENGTH) throw new LogError('key_malformed')
  const { publicKey, sign } = await importSeed(seed)
  return { key: verifierKey(name, type, publicKey), sign }
}

/** The text form of a private key that Go's note package uses. A secret: never log it. */
export async function formatSignerKey(name: string, type: SignatureType, seed: Uint8Array): Promise<string> {
  const { key } = await noteSigner(name, type, seed)
  return `${PRIVATE_PREFIX}${name}+${key.id}+${encodeBase64(Uint8Array.of(type, ...seed))}`
}

export async function parseSignerKey(text: string): Promise<NoteSigner> {
  if (!text.startsWith(PRIVATE_PREFIX)) throw new LogError('key_malformed')
  const { name, id, type, material } = splitKeyText(text.slice(PRIVATE_PREFIX.length))
  const signer = await noteSigner(name, type, material)
  if (signer.key.id !== id) throw new LogError('key_id')
  return signer
}

/** A note with the signatures of a log's keys: one, or two during a planned rotation. */
export async function signNote(text: string, signers: readonly NoteSigner[]): Promise<string> {
  requireNoteText(text)
  const lines: string[] = []
  for (const { key, sign } of signers) {
    if (key.type !== SIGNATURE_TYPE.ed25519) throw new LogError('key_type')
    lines.push(signatureLine(key, await sign(utf8(text))))
  }
  return withSignatures(`${text}\n`, lines)
}

/** The signature line of a witness, which `withSignatures` adds to the note. `time` is in seconds since 1970. */
export async function cosignNote(note: string, { key, sign }: NoteSigner, time: number): Promise<string> {
  if (key.type !== SIGNATURE_TYPE.cosignature) throw new LogError('key_type')
  const { text } = parseNote(note)
  return signatureLine(key, concatBytes(uint64(time), await sign(cosignedMessage(text, time))))
}

function signatureLine({ name, id }: VerifierKey, signature: Uint8Array): string {
  return `— ${name} ${encodeBase64(concatBytes(fromHex(id) as Uint8Array, signature))}`
}
