import { contentKeyCommitment } from '@agent-exchange/crypto'
import { base64url, type Generated, invalid, valid } from './vectors.ts'

const keyOf = (byte: number) => new Uint8Array(32).fill(byte)

export function keyCommitment(): Generated {
  const input = (byte: number, key_commitment = contentKeyCommitment(keyOf(byte))) => ({
    content_key: base64url(keyOf(byte)),
    key_commitment,
  })
  const other = { rule: 'O-17', code: 'digest_mismatch' }
  return {
    profile: 'key-commitment',
    description:
      'The member `key_commitment` of the additional data of a sealed package, and its content key.',
    references: ['docs/transparency-format.md', 'O-17', 'RFC 2104'],
    vectors: [
      valid('zeros', 'A key of zeros.', input(0), { committed: true }),
      valid('ones', 'A key of ones.', input(255), { committed: true }),
      invalid('other-key', 'The commitment of another key.', input(1, contentKeyCommitment(keyOf(2))), other),
      invalid('empty', 'No commitment.', input(1, ''), other),
    ],
  }
}
