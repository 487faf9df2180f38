import { jwkThumbprint } from '@agent-exchange/crypto'
import { KEY, privateJwk, publicJwk as publicTestJwk } from '../test-keys.ts'
import { base64url, fromBase64url, type Generated, invalid, valid } from './vectors.ts'

/** The prime of P-256; coordinates are smaller. */
const P = 'ffffffff00000001000000000000000000000000ffffffffffffffffffffffff'

export async function publicJwk(): Promise<Generated> {
  const jwk = publicTestJwk(KEY.senderSigning)
  const { x, y } = jwk
  const output = { jwk, thumbprint: await jwkThumbprint(jwk) }
  const zeros = base64url(new Uint8Array(32))

  const accepted: [string, string, object][] = [
    ['bare', 'The four members of a public key.', { jwk, use: 'signing' }],
    ['other-order', 'Members in another order.', { jwk: { y, x, crv: 'P-256', kty: 'EC' }, use: 'signing' }],
    [
      'decorated',
      'Members that JWK libraries add are accepted and not kept.',
      { jwk: { ...jwk, kid: 'k', alg: 'ES256', use: 'sig', key_ops: ['verify'], ext: true }, use: 'signing' },
    ],
    [
      'registered-members',
      'Other public members of RFC 7517 are accepted and not kept; no address among them is fetched.',
      {
        jwk: { ...jwk, x5u: 'https://keys.example/chain.pem', x5c: ['MIIB'], x5t: 'AAAA', iat: 1772442000 },
        use: 'signing',
      },
    ],
    [
      'unknown-members',
      'Members that nobody registered are accepted and not kept.',
      { jwk: { ...jwk, note: 'x', vendor: { revision: [1] } }, use: 'signing' },
    ],
    [
      'encryption',
      'A key for encryption that says so of itself.',
      { jwk: { ...jwk, use: 'enc', alg: 'ECDH-ES+A256KW' }, use: 'encryption' },
    ],
    [
      'other-use',
      'A key that calls itself one for encryption, registered for signing: the registration decides.',
      { jwk: { ...jwk, use: 'enc', alg: 'ECDH-ES+A256KW' }, use: 'signing' },
    ],
    [
      'other-operations',
      'A key that lists another operation, registered for signing: the registration decides.',
      { jwk: { ...jwk, key_ops: ['deriveBits'] }, use: 'signing' },
    ],
  ]
  const refused: [string, string, object, string][] = [
    ['private', 'A whole private key.', { jwk: privateJwk(KEY.senderSigning) }, 'key_private_material'],
    [
      'private-empty',
      'The private member by name alone.',
      { jwk: { ...jwk, d: '' } },
      'key_private_material',
    ],
    ['private-null', 'The private member as null.', { jwk: { ...jwk, d: null } }, 'key_private_material'],
    [
      'private-rsa',
      'A private member of another key type.',
      { jwk: { ...jwk, p: 'AQAB' } },
      'key_private_material',
    ],
    [
      'private-inside',
      'A private member below an unknown one.',
      { jwk: { ...jwk, vendor: [{ backup: { d: zeros } }] } },
      'key_private_material',
    ],
    ['symmetric', 'A symmetric key.', { jwk: { kty: 'oct', k: zeros } }, 'key_private_material'],
    [
      'off-curve',
      'Coordinates that are no point of the curve.',
      { jwk: { ...jwk, y: x } },
      'key_not_on_curve',
    ],
    ['origin', 'Both coordinates zero.', { jwk: { ...jwk, x: zeros, y: zeros } }, 'key_not_on_curve'],
    [
      'beyond-the-field',
      'A coordinate equal to the prime of the field.',
      { jwk: { ...jwk, x: base64url(Buffer.from(P, 'hex')) } },
      'key_not_on_curve',
    ],
    ['other-curve', 'Another curve.', { jwk: { ...jwk, crv: 'P-384' } }, 'key_curve_unsupported'],
    [
      'secp256k1',
      'A curve of the same size.',
      { jwk: { ...jwk, crv: 'secp256k1' } },
      'key_curve_unsupported',
    ],
    [
      'octet-key-pair',
      'Another key type.',
      { jwk: { kty: 'OKP', crv: 'X25519', x } },
      'key_type_unsupported',
    ],
    [
      'padded-coordinate',
      'A coordinate with base64 padding.',
      { jwk: { ...jwk, x: `${x}=` } },
      'key_coordinate_invalid',
    ],
    [
      'long-coordinate',
      'A coordinate with a zero byte in front.',
      { jwk: { ...jwk, x: base64url(Buffer.from([0, ...fromBase64url(x)])) } },
      'key_coordinate_invalid',
    ],
    [
      'short-coordinate',
      'A coordinate of 31 bytes.',
      { jwk: { ...jwk, x: base64url(fromBase64url(x).subarray(1)) } },
      'key_coordinate_invalid',
    ],
    ['missing-coordinate', 'No y.', { jwk: { kty: 'EC', crv: 'P-256', x } }, 'key_coordinate_invalid'],
    ['text', 'A string instead of an object.', { jwk: JSON.stringify(jwk) }, 'key_malformed'],
  ]
  return {
    profile: 'public-jwk',
    description: 'A public key as it is registered: P-256, a point of the curve, and nothing private.',
    references: ['RFC 7517', 'RFC 7518 section 6.2', 'RFC 7638', 'ID-06', 'O-28'],
    vectors: [
      ...accepted.map(([name, description, input]) => valid(name, description, input, output)),
      ...refused.map(([name, description, input, code]) =>
        invalid(name, description, input, { rule: 'ID-06', code }),
      ),
    ],
  }
}
