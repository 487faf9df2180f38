import { sha256Digest } from '@agent-exchange/crypto'
import { utf8 } from '../profiles/profile.ts'
import { base64url as encode, type Generated, invalid, valid } from './vectors.ts'

const EMPTY = 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:'
/** SHA-256 of the empty string in hex (FIPS 180-4 examples). */
const EMPTY_HEX = 'e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855'

export function base64url(): Generated {
  const accepted = [
    ['empty', 'No bytes, no text.', '', ''],
    ['one-byte', 'Four unused bits, all zero.', '_w', 'ff'],
    ['two-bytes', 'Two unused bits, all zero.', '-_8', 'fbff'],
    ['three-bytes', 'No unused bits.', 'AAEC', '000102'],
    ['alphabet', 'Both characters in which the alphabets differ.', '--__', 'fbefff'],
  ] as const
  const refused = [
    ['padded', 'Padding, which JOSE leaves out.', '_w=='],
    ['other-alphabet', 'The alphabet of plain base64.', '++//'],
    ['unused-bits', 'Unused bits that are not zero: a second text for the same byte.', '_x'],
    ['impossible-length', 'A length that no bytes have.', 'AAAAA'],
    ['whitespace-inside', 'A space.', 'AA EC'],
    ['line-break-at-end', 'A line break at the end.', 'AAEC\n'],
    ['not-ascii', 'A character outside of ASCII.', 'AAEÇ'],
  ] as const
  return {
    profile: 'base64url',
    description: 'Base64url without padding, of which each byte string has exactly one form.',
    references: ['RFC 4648 section 5', 'RFC 7515 section 2', 'PKG-01'],
    vectors: [
      ...accepted.map(([name, description, text, hex]) => valid(name, description, { text }, { hex })),
      ...refused.map(([name, description, text]) =>
        invalid(name, description, { text }, { rule: 'PKG-01', code: 'base64url_invalid' }),
      ),
    ],
  }
}

export async function digest(): Promise<Generated> {
  const hello = utf8('hello')
  const malformed = [
    ['no-colons', 'Base64 without the colons of a byte sequence.', EMPTY.replaceAll(':', '')],
    ['bare-base64', 'The value without its algorithm.', EMPTY.slice('sha-256='.length)],
    ['hexadecimal', 'Hexadecimal digits.', `sha-256=:${EMPTY_HEX}:`],
    ['base64url-alphabet', 'The alphabet of base64url.', EMPTY.replaceAll('+', '-').replaceAll('/', '_')],
    ['unpadded', 'No padding.', `${EMPTY.slice(0, -2)}:`],
    ['too-short', 'The right form around 16 bytes.', `sha-256=:${Buffer.alloc(16).toString('base64')}:`],
    ['unused-bits', 'Unused bits that are not zero.', EMPTY.replace('U=:', 'V=:')],
    ['other-algorithm', 'Another algorithm.', `sha-512=:${Buffer.alloc(64).toString('base64')}:`],
    ['upper-case', 'The name of the algorithm in capitals.', EMPTY.replace('sha-256', 'SHA-256')],
    ['two-members', 'A list where one digest belongs.', `${EMPTY}, ${EMPTY}`],
    ['whitespace', 'A space in front.', ` ${EMPTY}`],
  ] as const
  const sha256 = Buffer.from(EMPTY_HEX, 'hex').toString('base64url')
  const helloDigest = await sha256Digest(hello)
  return {
    profile: 'digest',
    description:
      'A digest as members of the protocol carry it: one SHA-256 byte sequence, and nothing around it.',
    references: ['RFC 9530', 'RFC 9651 section 3.3.5', 'FIPS 180-4'],
    vectors: [
      valid('empty', 'The digest of no bytes.', { bytes: '', digest: EMPTY }, { sha256 }),
      valid(
        'hello',
        'The digest of five bytes.',
        { bytes: encode(hello), digest: helloDigest },
        { sha256: encode(Buffer.from(helloDigest.slice('sha-256=:'.length, -1), 'base64')) },
      ),
      invalid(
        'other-bytes',
        'A well-formed digest of other bytes.',
        { bytes: encode(hello), digest: EMPTY },
        { rule: 'RFC 9530 section 2', code: 'digest_mismatch' },
      ),
      ...malformed.map(([name, description, text]) =>
        invalid(
          name,
          description,
          { digest: text },
          { rule: 'RFC 9530 section 2', code: 'digest_malformed' },
        ),
      ),
    ],
  }
}

export function contentDigestField(): Generated {
  const other = `sha-512=:${Buffer.alloc(64).toString('base64')}:`
  const accepted = [
    ['alone', 'One member.', EMPTY],
    ['with-another', 'Another algorithm beside it is passed over.', `${other}, ${EMPTY}`],
    ['tight', 'No space after the comma.', `${EMPTY},${other}`],
  ] as const
  const refused = [
    ['missing', 'No sha-256 at all.', other, 'digest_missing'],
    [
      'twice',
      'Two sha-256 members: readers differ on which one wins.',
      `${EMPTY}, ${EMPTY}`,
      'digest_malformed',
    ],
    ['empty', 'An empty field.', '', 'digest_malformed'],
    ['parameter', 'A parameter, for which RFC 9530 has no use.', `${EMPTY};q=1`, 'digest_malformed'],
    ['not-a-byte-sequence', 'A string instead of a byte sequence.', 'sha-256="abc"', 'digest_malformed'],
    ['too-short', 'Sixteen bytes.', `sha-256=:${Buffer.alloc(16).toString('base64')}:`, 'digest_malformed'],
  ] as const
  return {
    profile: 'content-digest-field',
    description: 'The Content-Digest field of a webhook: a dictionary whose sha-256 member counts.',
    references: ['RFC 9530 section 2', 'RFC 9651 section 3.2', 'EVT-05'],
    vectors: [
      ...accepted.map(([name, description, field]) => valid(name, description, { field }, { digest: EMPTY })),
      ...refused.map(([name, description, field, code]) =>
        invalid(name, description, { field }, { rule: 'EVT-05', code }),
      ),
    ],
  }
}
