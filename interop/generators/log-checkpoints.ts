import { createHash } from 'node:crypto'
import {
  cosignNote,
  EMPTY_ROOT,
  formatCheckpoint,
  formatVerifierKey,
  noteSigner,
  SIGNATURE_TYPE,
  signNote,
  withSignatures,
} from '@agent-exchange/log'
import { logSigner, witnessSigners } from '@agent-exchange/testkit'
import { logCheckpoint } from '../profiles/transparency-log.ts'
import { type Generated, invalid, valid } from './vectors.ts'

const ROOT = createHash('sha256').update('root').digest()
const ORIGIN = logSigner.key.name
const HEAD = { origin: ORIGIN, size: 1_234, root: ROOT }
const TIME = 1_800_000_000
const KEYS = [logSigner, ...witnessSigners].map(({ key }) => formatVerifierKey(key))

const signed = (text: string) => signNote(text, [logSigner])

export async function checkpoints(): Promise<Generated> {
  const text = formatCheckpoint(HEAD)
  const note = await signNote(text, [logSigner])
  const lines = await Promise.all(witnessSigners.map((witness, at) => cosignNote(note, witness, TIME + at)))
  const [line = ''] = lines
  const cosigned = withSignatures(note, lines)
  const stranger = await noteSigner(ORIGIN, SIGNATURE_TYPE.ed25519, new Uint8Array(32).fill(9))
  const elsewhere = await noteSigner('other.example/log', SIGNATURE_TYPE.ed25519, new Uint8Array(32).fill(8))
  const input = (content: string, verifier_keys = KEYS) => ({ note: content, verifier_keys })
  const made = async (name: string, description: string, content: string, keys = KEYS) =>
    valid(name, description, input(content, keys), await logCheckpoint(input(content, keys)))
  const refused = (name: string, description: string, content: string, code: string, keys = KEYS) =>
    invalid(name, description, input(content, keys), { rule: ruleOf(code), code })
  const root = ROOT.toString('base64')
  return {
    profile: 'log-checkpoint',
    description: 'Signed and cosigned checkpoints of a transparency log, opened with verifier keys.',
    references: ['C2SP signed-note', 'C2SP tlog-checkpoint', 'C2SP tlog-cosignature', 'RFC 8032'],
    vectors: [
      await made('signed', 'Signed by the log.', note),
      await made('cosigned', 'Cosigned by three witnesses.', cosigned),
      await made(
        'log-key-only',
        'Cosignatures of witnesses that the reader does not know are ignored.',
        cosigned,
        [KEYS[0] ?? ''],
      ),
      await made(
        'empty',
        'The checkpoint of an empty log.',
        await signed(formatCheckpoint({ ...HEAD, size: 0, root: EMPTY_ROOT })),
      ),
      await made(
        'extension',
        'Extension lines are allowed and have no meaning here.',
        await signed(`${text}extension\n`),
      ),
      await made(
        'two-log-keys',
        'Two keys of the log sign during a rotation; the reader knows one.',
        await signNote(text, [stranger, logSigner]),
      ),
      refused(
        'other-key',
        'Another key under the same name.',
        await signNote(text, [stranger]),
        'note_unsigned',
      ),
      refused(
        'witness-only',
        'A cosignature without the signature of the log.',
        `${text}\n${line}\n`,
        'note_unsigned',
      ),
      refused('other-size', 'The size was changed.', note.replace('1234', '1235'), 'note_signature_invalid'),
      refused(
        'other-root',
        'The root was changed.',
        note.replace(root, Buffer.from(EMPTY_ROOT).toString('base64')),
        'note_signature_invalid',
      ),
      refused(
        'other-origin',
        'The origin was changed.',
        note.replace(ORIGIN, 'other.example/log'),
        'note_signature_invalid',
      ),
      refused(
        'origin-of-another-log',
        'The key of another log signed it.',
        await signNote(text, [elsewhere]),
        'checkpoint_origin',
        [...KEYS, formatVerifierKey(elsewhere.key)],
      ),
      refused(
        'cosignature-changed',
        'A cosignature by a known witness does not fit: the whole note is invalid.',
        withSignatures(note, [altered(line)]),
        'note_signature_invalid',
      ),
      refused(
        'leading-zero',
        'The size has a leading zero.',
        await signed(text.replace('1234', '01234')),
        'checkpoint_malformed',
      ),
      refused(
        'short-root',
        'The root has 31 bytes.',
        await signed(text.replace(root, ROOT.subarray(1).toString('base64'))),
        'checkpoint_malformed',
      ),
      refused(
        'no-origin',
        'The origin is empty.',
        await signed(text.replace(ORIGIN, '')),
        'checkpoint_malformed',
      ),
      refused('no-signature', 'No signature line.', `${text}\n`, 'note_malformed'),
      refused('no-last-newline', 'The last line does not end.', note.slice(0, -1), 'note_malformed'),
      refused(
        'hyphen',
        'A hyphen in place of the em dash.',
        note.replace('— ', '- '),
        'note_signature_malformed',
      ),
      refused('carriage-return', 'A control character.', note.replace('1234\n', '1234\r\n'), 'note_encoding'),
    ],
  }
}

function ruleOf(code: string): string {
  return code.startsWith('note') ? 'C2SP signed-note' : 'C2SP tlog-checkpoint'
}

/** The same line with one bit of the signature flipped. */
export function altered(line: string): string {
  const [dash, name, value = ''] = line.trimEnd().split(' ')
  const bytes = Buffer.from(value, 'base64')
  bytes.writeUInt8(bytes.readUInt8(bytes.length - 1) ^ 1, bytes.length - 1)
  return `${dash} ${name} ${bytes.toString('base64')}`
}
