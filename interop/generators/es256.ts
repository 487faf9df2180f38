import { signEs256 } from '@agent-exchange/crypto'
import { utf8 } from '../profiles/profile.ts'
import { KEY, privateKey } from '../test-keys.ts'
import { base64url, type Generated, invalid, valid } from './vectors.ts'

/** The order of P-256 (SP 800-186). */
const N = 0xffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551n

export async function es256(): Promise<Generated> {
  const key = await privateKey(KEY.senderSigning)
  const message = utf8('A message that is signed.')
  const raw = await signEs256(key, message)
  const r = raw.subarray(0, 32)
  const s = raw.subarray(32)
  const signed = (signature: Uint8Array | string, of = message) => ({
    message: base64url(of),
    signature: typeof signature === 'string' ? signature : base64url(signature),
    verify_with: KEY.senderSigning,
  })
  const empty = utf8('')
  const twin = join(r, toBytes(N - toInteger(s)))
  const output = { verified: true }

  const refused: [string, string, object][] = [
    ['other-message', 'The signature of another message.', signed(raw, utf8('Another message.'))],
    ['other-key', 'The key of somebody else.', { ...signed(raw), verify_with: KEY.strangerSigning }],
    ['halves-swapped', 's before r.', signed(join(s, r))],
    ['r-zero', 'r is 0.', signed(join(toBytes(0n), s))],
    ['s-zero', 's is 0.', signed(join(r, toBytes(0n)))],
    ['both-zero', 'r and s are 0.', signed(new Uint8Array(64))],
    ['r-order', 'r is n, the order of the group.', signed(join(toBytes(N), s))],
    ['s-order', 's is n.', signed(join(r, toBytes(N)))],
    ['s-largest', 's is 2^256 − 1.', signed(join(r, toBytes(2n ** 256n - 1n)))],
    ['63-bytes', 'The last byte is missing.', signed(raw.subarray(0, 63))],
    ['65-bytes', 'A zero byte too many.', signed(join(raw, Uint8Array.of(0)))],
    ['der', 'The same signature as ASN.1 DER.', signed(toDer(r, s))],
    ['empty', 'No signature.', signed('')],
  ]
  return {
    profile: 'es256',
    description: 'ECDSA on P-256 with SHA-256; a signature is 64 bytes, r before s, each of 32.',
    references: ['RFC 7518 section 3.4', 'FIPS 186-5 section 6.4.2'],
    vectors: [
      valid('signed', 'A signature.', signed(raw), output),
      valid('no-message', 'A signature of no bytes.', signed(await signEs256(key, empty), empty), output),
      valid(
        'other-half',
        'The twin of a signature, n − s: ES256 does not ask for the lower half.',
        signed(twin),
        output,
      ),
      ...refused.map(([name, description, input]) =>
        invalid(name, description, input, { rule: 'RFC 7518 section 3.4', code: 'signature_mismatch' }),
      ),
      invalid('padded', 'Padding in its base64url.', signed(`${base64url(raw)}==`), {
        rule: 'RFC 7515 section 2',
        code: 'base64url_invalid',
      }),
    ],
  }
}

function join(...parts: Uint8Array[]): Uint8Array {
  return Uint8Array.from(parts.flatMap((part) => [...part]))
}

function toInteger(bytes: Uint8Array): bigint {
  return BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
}

function toBytes(integer: bigint): Uint8Array {
  return Uint8Array.from(Buffer.from(integer.toString(16).padStart(64, '0'), 'hex'))
}

/** ECDSA-Sig-Value (RFC 3279 section 2.2.3). */
export function toDer(r: Uint8Array, s: Uint8Array): Uint8Array {
  const integers = [r, s].map((half) => {
    const hex = toInteger(half).toString(16)
    const even = hex.length % 2 === 0 ? hex : `0${hex}`
    // A leading one would make it negative.
    const positive = Number.parseInt(even.slice(0, 2), 16) > 0x7f ? `00${even}` : even
    const bytes = Buffer.from(positive, 'hex')
    return Uint8Array.from([0x02, bytes.length, ...bytes])
  })
  const content = join(...integers)
  return join(Uint8Array.of(0x30, content.length), content)
}
