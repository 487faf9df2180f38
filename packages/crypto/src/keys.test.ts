import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calculateJwkThumbprint } from 'jose'
import { encodeBase64url } from './base64.ts'
import { type Curve, CURVES, isOnCurve } from './curves.ts'
import { generateKeyPair, importPrivateJwk, importPublicJwk, jwkThumbprint } from './keys.ts'

const signing = await generateKeyPair('signing')
const { jwk } = signing.publicKey

test('[ID-06] private material is refused by name, whatever its value', async (t) => {
  for (const name of ['d', 'p', 'q', 'dp', 'dq', 'qi', 'oth', 'k', 'priv']) {
    for (const value of [signing.privateJwk.d, '', null, undefined, 0]) {
      await t.assert.rejects(
        importPublicJwk({ ...jwk, [name]: value }),
        { code: 'key_private_material' },
        name,
      )
    }
  }
  await t.assert.rejects(importPublicJwk({ kty: 'oct', k: 'AAAA' }), { code: 'key_private_material' })
})

test('[ID-06] private material is refused at any depth, and in linear time', async (t) => {
  for (const hidden of [{ d: 'AAAA' }, [{ oth: [] }], { other: { inner: [1, { k: null }] } }]) {
    await t.assert.rejects(importPublicJwk({ ...jwk, other: hidden }), { code: 'key_private_material' })
  }
  // An array item has an index and no name.
  await importPublicJwk({ ...jwk, key_ops: ['d', 'k'] })
  let reads = 0
  const members = (length: number) =>
    Object.defineProperties(
      { ...jwk },
      Object.fromEntries(
        Array.from({ length }, (_, index) => [`x_${index}`, { enumerable: true, get: () => void reads++ }]),
      ),
    )
  await importPublicJwk(members(1_000))
  const small = reads
  await importPublicJwk(members(10_000))
  assert.ok(small > 0 && reads - small <= 10 * small, `${small} reads, then ${reads - small}`)
})

test('[ID-06][ERR-02] the error about private material does not contain it', async (t) => {
  await t.assert.rejects(importPublicJwk(signing.privateJwk), (error: Error) => {
    return !`${error.message}${error.stack}${JSON.stringify(error)}`.includes(signing.privateJwk.d)
  })
})

test('[ID-06] registered and unknown public members are accepted and dropped', async (t) => {
  const key = await importPublicJwk({
    ...jwk,
    kid: 'a',
    alg: 'ES256',
    use: 'sig',
    key_ops: ['verify'],
    ext: true,
    x5u: 'https://attacker.example/chain.pem',
    x5c: ['MIIB'],
    x5t: 'AAAA',
    'x5t#S256': 'AAAA',
    jku: 'https://attacker.example/keys.json',
    iat: 1_700_000_000,
    nbf: 1,
    D: 'not the private d',
    vendor: { revision: [1, 2] },
  })
  t.assert.deepEqual(key, { jwk: { kty: 'EC', crv: 'P-256', x: jwk.x, y: jwk.y } })
  assert.ok(Object.isFrozen(key) && Object.isFrozen(key.jwk))
})

test('[ID-06] only points of P-256 in their canonical encoding are accepted', async (t) => {
  const short = encodeBase64url(new Uint8Array(31).fill(1))
  const zero = encodeBase64url(new Uint8Array(32))
  const prime = Uint8Array.from(Buffer.from(CURVES['P-256'].p.toString(16), 'hex'))
  const refused: [string, unknown][] = [
    ['key_malformed', null],
    ['key_malformed', 'EC'],
    ['key_malformed', [jwk]],
    ['key_type_unsupported', { ...jwk, kty: 'RSA' }],
    ['key_type_unsupported', { ...jwk, kty: 'ec' }],
    ['key_type_unsupported', {}],
    ['key_curve_unsupported', { ...jwk, crv: 'P-384' }],
    ['key_curve_unsupported', { ...jwk, crv: 'secp256k1' }],
    ['key_curve_unsupported', { ...jwk, crv: '__proto__' }],
    ['key_coordinate_invalid', { ...jwk, x: short }],
    ['key_coordinate_invalid', { ...jwk, x: `${jwk.x}=` }],
    ['key_coordinate_invalid', { ...jwk, x: encodeBase64url(new Uint8Array(33)) }],
    ['key_coordinate_invalid', { ...jwk, y: 7 }],
    ['key_coordinate_invalid', { kty: 'EC', crv: 'P-256', x: jwk.x }],
    ['key_not_on_curve', { ...jwk, x: jwk.y, y: jwk.x }],
    ['key_not_on_curve', { ...jwk, x: zero, y: zero }],
    ['key_not_on_curve', { ...jwk, x: encodeBase64url(prime) }],
  ]
  for (const [code, key] of refused)
    await t.assert.rejects(importPublicJwk(key), { code }, JSON.stringify(key))
})

test('[ID-06] other curves are accepted only if the caller allows them', async (t) => {
  for (const crv of ['P-384', 'P-521'] as const) {
    const pair = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: crv }, true, ['deriveBits'])
    const { kty, x, y } = await crypto.subtle.exportKey('jwk', pair.publicKey)
    const curves: Curve[] = ['P-256', crv]
    t.assert.equal((await importPublicJwk({ kty, crv, x, y }, { curves })).jwk.crv, crv)
    await t.assert.rejects(importPublicJwk({ kty, crv, x, y }), { code: 'key_curve_unsupported' })
    await t.assert.rejects(importPublicJwk({ kty, crv, x, y: x }, { curves }), { code: 'key_not_on_curve' })
    const privateJwk = await crypto.subtle.exportKey('jwk', pair.privateKey)
    t.assert.equal((await importPrivateJwk(privateJwk, { use: 'encryption', curves })).publicJwk.crv, crv)
    const signingKey = importPrivateJwk({ kty, crv, x, y, d: privateJwk.d }, { use: 'signing', curves })
    await t.assert.rejects(signingKey, { code: 'key_curve_unsupported' })
    const verifyingKey = importPublicJwk({ kty, crv, x, y }, { use: 'signing', curves })
    await t.assert.rejects(verifyingKey, { code: 'key_curve_unsupported' })
  }
})

test('the curve equation holds for a base point and fails for a neighbouring point', (t) => {
  // SP 800-186 section 3.2.1.3: the generator of P-256.
  const x = 0x6b17d1f2e12c4247f8bce6e563a440f277037d812deb33a0f4a13945d898c296n
  const y = 0x4fe342e2fe1a7f9b8ee7eb4a7c0f9e162bce33576b315ececbb6406837bf51f5n
  const { p } = CURVES['P-256']
  t.assert.equal(isOnCurve('P-256', x, y), true)
  t.assert.equal(isOnCurve('P-256', x, p - y), true)
  t.assert.equal(isOnCurve('P-256', x, y + 1n), false)
  t.assert.equal(isOnCurve('P-256', x + p, y), false)
  t.assert.equal(isOnCurve('P-384', x, y), false)
})

test('[ID-06] what a public key declares about its use is ignored; an own private key must not contradict it', async (t) => {
  const signs = { use: 'signing' } as const
  const encrypts = { use: 'encryption' } as const
  const own = signing.privateJwk
  for (const [use, contradictions] of [
    [signs, [{ use: 'enc' }, { alg: 'ES384' }, { key_ops: ['deriveBits'] }, { key_ops: [] }]],
    [encrypts, [{ use: 'sig' }, { alg: 'ES256' }, { alg: 1 }, { key_ops: ['verify'] }]],
  ] as const) {
    for (const extra of contradictions) {
      t.assert.deepEqual((await importPublicJwk({ ...jwk, ...extra }, use)).jwk, jwk)
      await t.assert.rejects(importPrivateJwk({ ...own, ...extra }, use), { code: 'key_use_mismatch' })
    }
  }
  await importPrivateJwk({ ...own, use: 'sig', alg: 'ES256', key_ops: ['sign'] }, signs)
  await importPrivateJwk({ ...own, use: 'enc', alg: 'ECDH-ES+A256KW', key_ops: [] }, encrypts)
})

test('a private key needs its own public key and a scalar in range', async (t) => {
  const other = await generateKeyPair('signing')
  const { d } = other.privateJwk
  const order = Uint8Array.from(Buffer.from(CURVES['P-256'].n.toString(16), 'hex'))
  for (const use of ['signing', 'encryption'] as const) {
    await t.assert.rejects(importPrivateJwk({ ...signing.privateJwk, d }, { use }), {
      code: 'key_pair_mismatch',
    })
    await t.assert.rejects(importPrivateJwk(jwk, { use }), { code: 'key_private_missing' })
    for (const bad of [new Uint8Array(32), order, new Uint8Array(31).fill(1)]) {
      const broken = { ...signing.privateJwk, d: encodeBase64url(bad) }
      await t.assert.rejects(importPrivateJwk(broken, { use }), { code: 'key_coordinate_invalid' })
    }
  }
  assert.ok(!JSON.stringify(signing.privateKey).includes(signing.privateJwk.d))
})

test('RFC 7638 section 3: the thumbprint covers crv, kty, x, y in that order', async (t) => {
  const { createHash } = await import('node:crypto')
  const text = `{"crv":"P-256","kty":"EC","x":"${jwk.x}","y":"${jwk.y}"}`
  t.assert.equal(await jwkThumbprint(jwk), createHash('sha256').update(text).digest('base64url'))
  t.assert.equal(await jwkThumbprint(jwk), await calculateJwkThumbprint({ ...jwk }))
})
