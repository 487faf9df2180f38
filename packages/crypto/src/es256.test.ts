import { test } from 'node:test'
import { decodeBase64url } from './base64.ts'
import { derFromRaw } from './es256-der.ts'
import { isRawSignature, signEs256, verifyEs256 } from './es256.ts'
import { generateKeyPair, importPrivateJwk, importPublicJwk } from './keys.ts'

const utf8 = new TextEncoder()
const ORDER = 'ffffffff00000000ffffffffffffffffbce6faada7179e84f3b9cac2fc632551'

test('RFC 7515 appendix A.3: the ES256 example verifies', async (t) => {
  const key = await importPublicJwk({
    kty: 'EC',
    crv: 'P-256',
    x: 'f83OJ3D2xF1Bg8vub9tLe1gHMzV76e8Tus9uPHvRVEU',
    y: 'x_FEzRu9m36HLN_tue659LNpXW6pCyStikYjKIWI5a0',
  })
  const input = utf8.encode(
    'eyJhbGciOiJFUzI1NiJ9.' +
      'eyJpc3MiOiJqb2UiLA0KICJleHAiOjEzMDA4MTkzODAsDQogImh0dHA6Ly9leGFtcGxlLmNvbS9pc19yb290Ijp0cnVlfQ',
  )
  const signature = decodeBase64url(
    'DtEhU3ljbEg8L38VWAfUAqOyKAM6-Xx-F4GawxaepmXFCgfTjDxw5djxLa8ISlSApmWQxfKTUJqPP3-Kg6NU1Q',
  )
  t.assert.equal(await verifyEs256(key, input, signature), true)
  t.assert.equal(await verifyEs256(key, input.subarray(1), signature), false)
})

test('RFC 9421 appendix B.2.4: the ecdsa-p256-sha256 example verifies over its signature base', async (t) => {
  const key = await importPublicJwk({
    kty: 'EC',
    crv: 'P-256',
    x: 'qIVYZVLCrPZHGHjP17CTW0_-D9Lfw0EkjqF7xB4FivA',
    y: 'Mc4nN9LTDOBhfoUeg8Ye9WedFRhnZXZJA12Qp0zZ6F0',
  })
  const base = [
    '"@status": 200',
    '"content-type": application/json',
    '"content-digest": sha-512=:mEWXIS7MaLRuGgxOBdODa3xqM1XdEvxoYhvlCFJ41QJgJc4GTsPp29l5oGX69wWdXymyU0rjJuahq4l5aGgfLQ==:',
    '"content-length": 23',
    '"@signature-params": ("@status" "content-type" "content-digest" "content-length");created=1618884473;keyid="test-key-ecc-p256"',
  ].join('\n')
  const signature = Buffer.from(
    'wNmSUAhwb5LxtOtOpNa6W5xj067m5hFrj0XQ4fvpaCLx0NKocgPquLgyahnzDnDAUy5eCdlYUEkLIj+32oiasw==',
    'base64',
  )
  t.assert.equal(await verifyEs256(key, utf8.encode(base), signature), true)
})

test('only 64 bytes with r and s between 1 and n-1 are a signature', async (t) => {
  const { publicKey, privateKey } = await generateKeyPair('signing')
  const data = utf8.encode('data')
  const good = await signEs256(privateKey, data)
  t.assert.equal(await verifyEs256(publicKey, data, good), true)
  t.assert.equal(isRawSignature(good), true)
  const r = good.subarray(0, 32)
  const s = good.subarray(32)
  const zero = new Uint8Array(32)
  const order = Uint8Array.from(Buffer.from(ORDER, 'hex'))
  const highest = new Uint8Array(32).fill(0xff)
  const refused = {
    'r zero': [...zero, ...s],
    's zero': [...r, ...zero],
    'both zero': [...zero, ...zero],
    'r is n': [...order, ...s],
    's is n': [...r, ...order],
    'r above n': [...highest, ...s],
    's above n': [...r, ...highest],
    'r plus n mod 2^256': [...plus(r, order), ...s],
    '63 bytes': good.subarray(1),
    '65 bytes, zero before': [0, ...good],
    '65 bytes, zero after': [...good, 0],
    '66 bytes, each half padded': [0, ...r, 0, ...s],
    empty: [],
    der: derFromRaw(good),
  }
  for (const [name, bytes] of Object.entries(refused)) {
    // Our own check refuses these, not only the runtime.
    if (name !== 'r plus n mod 2^256') t.assert.equal(isRawSignature(Uint8Array.from(bytes)), false, name)
    t.assert.equal(await verifyEs256(publicKey, data, Uint8Array.from(bytes)), false, name)
  }
})

function plus(left: Uint8Array, right: Uint8Array): Uint8Array {
  const sum =
    BigInt(`0x${Buffer.from(left).toString('hex')}`) + BigInt(`0x${Buffer.from(right).toString('hex')}`)
  return Uint8Array.from(Buffer.from((sum % 2n ** 256n).toString(16).padStart(64, '0'), 'hex'))
}

test('a key works for its own use only, and a public key that was not imported verifies nothing', async (t) => {
  const encryption = await generateKeyPair('encryption')
  const data = utf8.encode('data')
  t.assert.throws(() => signEs256(encryption.privateKey, data), { code: 'key_use_mismatch' })
  await t.assert.rejects(encryption.privateKey.sign(data), { code: 'key_use_mismatch' })
  const forged = { jwk: encryption.publicKey.jwk }
  await t.assert.rejects(verifyEs256(forged, data, new Uint8Array(64)), { code: 'key_curve_unsupported' })
  const again = await importPrivateJwk(encryption.privateJwk, { use: 'signing' })
  t.assert.equal(await verifyEs256(encryption.publicKey, data, await signEs256(again, data)), true)
})
