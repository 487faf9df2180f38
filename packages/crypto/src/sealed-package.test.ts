import { createPrivateKey, createPublicKey, diffieHellman, sign } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { flattenedDecrypt, GeneralEncrypt } from 'jose'
import { encodeBase64url } from './base64.ts'
import { signEs256, verifyEs256 } from './es256.ts'
import type { KeyUse, PrivateJwk } from './jwk-shape.ts'
import { generateKeyPair, importPrivateJwk, importPublicJwk, type PrivateKey } from './keys.ts'
import { openPackage, sealPackage } from './sealed-package.ts'
import { readSealedPackage } from './sealed-package-shape.ts'

const a = await generateKeyPair('encryption')
const b = await generateKeyPair('encryption')
const c = await generateKeyPair('encryption')
const sender = { kid: 'key_a', publicKey: a.publicKey }
const recipient = { kid: 'key_b', publicKey: b.publicKey }
const text = (value: string) => new TextEncoder().encode(value)
const sealed = await sealPackage(text('content'), { sender, recipient, aad: text('{"package_id":"pkg_1"}') })
const zeros = (length: number) => encodeBase64url(new Uint8Array(length))
const flip = (value: string) => {
  const bytes = Buffer.from(value, 'base64url')
  bytes[0] = (bytes[0] ?? 0) ^ 1
  return bytes.toString('base64url')
}

test('[PKG-02] a sealed package has exactly the members of the profile, sender first', (t) => {
  t.assert.deepEqual(Object.keys(sealed).toSorted(), [
    'aad',
    'ciphertext',
    'iv',
    'protected',
    'recipients',
    'tag',
  ])
  t.assert.deepEqual(
    sealed.recipients.map(({ header }) => header.kid),
    ['key_a', 'key_b'],
  )
  for (const { header, ...rest } of sealed.recipients) {
    t.assert.deepEqual(Object.keys(header).toSorted(), ['alg', 'epk', 'kid'])
    t.assert.deepEqual(Object.keys(rest), ['encrypted_key'])
  }
  t.assert.deepEqual(JSON.parse(Buffer.from(sealed.protected, 'base64url').toString()), {
    enc: 'A256GCM',
    typ: 'application/svc+jwe',
    cty: 'application/svc.reasoning-package+json',
    syv: 'svc/1.0',
  })
})

test('[PKG-02] each recipient opens a sealed package, and nobody else does', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 1, maxLength: 2_000 }),
      fc.uint8Array({ minLength: 1, maxLength: 100 }),
      async (plaintext, aad) => {
        const jwe = await sealPackage(plaintext, { sender, recipient, aad })
        for (const [kid, { privateKey }] of [
          ['key_a', a],
          ['key_b', b],
        ] as const) {
          const opened = await openPackage(jwe, { kid, privateKey })
          if (Buffer.compare(opened.plaintext, plaintext) !== 0 || Buffer.compare(opened.aad, aad) !== 0)
            return false
        }
        const outsiders = [
          openPackage(jwe, { kid: 'key_a', privateKey: c.privateKey }),
          openPackage(jwe, { kid: 'key_b', privateKey: a.privateKey }),
          openPackage(jwe, { kid: 'key_c', privateKey: c.privateKey }),
        ]
        const results = await Promise.allSettled(outsiders)
        return results.every(({ status }) => status === 'rejected')
      },
    ),
    { numRuns: 25 },
  )
})

test('[PKG-02] jose opens our packages, and we open packages sealed by jose', async (t) => {
  const { recipients, ...shared } = sealed
  const key = await crypto.subtle.importKey(
    'jwk',
    { ...b.privateJwk },
    { name: 'ECDH', namedCurve: 'P-256' },
    false,
    ['deriveBits'],
  )
  const { encrypted_key, header } = recipients[1]
  const opened = await flattenedDecrypt({ ...shared, encrypted_key, header: { ...header } }, key)
  t.assert.deepEqual(opened.plaintext, text('content'))

  const foreign = await new GeneralEncrypt(text('theirs'))
    .setProtectedHeader({
      syv: 'svc/1.0',
      cty: 'application/svc.reasoning-package+json',
      typ: 'application/svc+jwe',
      enc: 'A256GCM',
    })
    .setAdditionalAuthenticatedData(text('x'))
    .addRecipient({ ...a.publicKey.jwk })
    .setUnprotectedHeader({ alg: 'ECDH-ES+A256KW', kid: 'key_a' })
    .addRecipient({ ...b.publicKey.jwk })
    .setUnprotectedHeader({ alg: 'ECDH-ES+A256KW', kid: 'key_b' })
    .encrypt()
  const { plaintext } = await openPackage(foreign, { kid: 'key_a', privateKey: a.privateKey })
  t.assert.deepEqual(plaintext, text('theirs'))
})

test('[PKG-02] a package with altered content, aad, header, tag or wrapped key does not open', async (t) => {
  const [first, second] = sealed.recipients
  const damaged = [
    { ...sealed, ciphertext: flip(sealed.ciphertext) },
    { ...sealed, aad: flip(sealed.aad) },
    { ...sealed, iv: flip(sealed.iv) },
    { ...sealed, tag: flip(sealed.tag) },
    {
      ...sealed,
      protected: Buffer.from(
        Buffer.from(sealed.protected, 'base64url').toString().replace(',', ', '),
      ).toString('base64url'),
    },
    { ...sealed, recipients: [first, { ...second, encrypted_key: flip(second.encrypted_key) }] },
    { ...sealed, recipients: [first, { ...second, header: { ...second.header, epk: first.header.epk } }] },
    // Swapped kids: each recipient entry names a key that cannot unwrap it.
    {
      ...sealed,
      recipients: [
        { ...first, header: { ...first.header, kid: 'key_b' } },
        { ...second, header: { ...second.header, kid: 'key_a' } },
      ],
    },
  ]
  for (const jwe of damaged) {
    await t.assert.rejects(openPackage(jwe, { kid: 'key_b', privateKey: b.privateKey }), {
      code: 'sealed_not_opened',
    })
  }
  await t.assert.rejects(
    openPackage(sealed, { kid: 'key_b', privateKey: (await generateKeyPair('signing')).privateKey }),
    { code: 'key_use_mismatch' },
  )
})

test('[PKG-02] every other structure is refused, each with its own code', (t) => {
  const [first, second] = sealed.recipients
  const epk = c.publicKey.jwk
  const header = (change: object) => {
    const current: object = JSON.parse(Buffer.from(sealed.protected, 'base64url').toString())
    return {
      ...sealed,
      protected: Buffer.from(JSON.stringify({ ...current, ...change })).toString('base64url'),
    }
  }
  const slot = (change: object) => ({
    ...sealed,
    recipients: [first, { ...second, header: { ...second.header, ...change } }],
  })
  const withProtected = (json: string) => ({ ...sealed, protected: Buffer.from(json).toString('base64url') })
  const refused: [string, unknown][] = [
    ['sealed_members', null],
    ['sealed_members', { ...sealed, unprotected: {} }],
    ['sealed_members', { ...sealed, aad: undefined, x: 1 }],
    ['sealed_members', { ...sealed, protected: 1 }],
    ['base64url_invalid', { ...sealed, protected: `${sealed.protected}=` }],
    ['json_duplicate_member', withProtected('{"enc":"A256GCM","enc":"A256GCM","typ":"","cty":"","syv":""}')],
    ['sealed_header_members', header({ zip: 'DEF' })],
    ['sealed_header_members', header({ crit: ['syv'] })],
    ['sealed_header_members', header({ alg: 'ECDH-ES+A256KW' })],
    ['sealed_header_members', withProtected('{}')],
    ['sealed_header_members', withProtected('[]')],
    ['sealed_encryption', header({ enc: 'A128GCM' })],
    ['sealed_encryption', header({ enc: 'A256CBC-HS512' })],
    ['sealed_type', header({ typ: 'svc+jwe' })],
    ['sealed_content_type', header({ cty: 'application/json' })],
    ['sealed_version', header({ syv: 'svc/1.1' })],
    ['sealed_aad', { ...sealed, aad: '' }],
    ['sealed_aad', { ...sealed, aad: 5 }],
    ['base64url_invalid', { ...sealed, aad: 'A' }],
    ['sealed_iv', { ...sealed, iv: zeros(16) }],
    ['sealed_iv', { ...sealed, iv: '' }],
    ['sealed_tag', { ...sealed, tag: zeros(12) }],
    ['sealed_tag', { ...sealed, tag: zeros(15) }],
    ['sealed_ciphertext', { ...sealed, ciphertext: '' }],
    ['base64url_invalid', { ...sealed, ciphertext: 'AB=' }],
    ['sealed_recipient_count', { ...sealed, recipients: [first] }],
    ['sealed_recipient_count', { ...sealed, recipients: [first, second, second] }],
    ['sealed_recipient_count', { ...sealed, recipients: { 0: first, 1: second, length: 2 } }],
    ['sealed_recipient_members', { ...sealed, recipients: [first, { ...second, x: 1 }] }],
    ['sealed_recipient_members', { ...sealed, recipients: [first, null] }],
    ['sealed_recipient_members', slot({ apu: 'AA' })],
    ['sealed_recipient_members', slot({ enc: 'A256GCM' })],
    ['sealed_recipient_algorithm', slot({ alg: 'ECDH-ES' })],
    ['sealed_recipient_algorithm', slot({ alg: 'ECDH-ES+A128KW' })],
    ['sealed_recipient_algorithm', slot({ alg: 'dir' })],
    ['sealed_recipient_key_id', slot({ kid: '' })],
    ['sealed_recipient_key_id', slot({ kid: 1 })],
    ['key_private_material', slot({ epk: c.privateJwk })],
    ['key_private_material', slot({ epk: { ...epk, d: null } })],
    ['key_not_on_curve', slot({ epk: { ...epk, y: epk.x } })],
    ['key_curve_unsupported', slot({ epk: { ...epk, crv: 'P-384' } })],
    ['key_type_unsupported', slot({ epk: { kty: 'OKP', crv: 'X25519', x: epk.x } })],
    ['key_malformed', slot({ epk: 'AAAA' })],
    ['key_member_unknown', slot({ epk: { ...epk, x5c: [] } })],
    ['key_member_unknown', slot({ epk: { ...epk, note: 'plaintext' } })],
    ['sealed_encrypted_key', { ...sealed, recipients: [{ ...first, encrypted_key: zeros(24) }, second] }],
    ['sealed_encrypted_key', { ...sealed, recipients: [{ ...first, encrypted_key: null }, second] }],
  ]
  t.assert.doesNotThrow(() => readSealedPackage(sealed))
  for (const [code, jwe] of refused)
    t.assert.throws(() => readSealedPackage(jwe), { code }, JSON.stringify(jwe))
})

test('sealing refuses input that no service would accept', async (t) => {
  await t.assert.rejects(sealPackage(new Uint8Array(), { sender, recipient }), { code: 'sealed_ciphertext' })
})

test('[PKG-02] two agents may use the same key id; each opens its own entry, and a third agent opens none', async (t) => {
  const jwe = await sealPackage(text('x'), { sender, recipient: { ...recipient, kid: 'key_a' } })
  for (const { privateKey } of [a, b]) {
    t.assert.deepEqual((await openPackage(jwe, { kid: 'key_a', privateKey })).plaintext, text('x'))
  }
  await t.assert.rejects(openPackage(jwe, { kid: 'key_a', privateKey: c.privateKey }), {
    code: 'sealed_not_opened',
  })
})

test('another content type or curve is accepted if the caller allows it (O-28, O-35)', async (t) => {
  const contentType = 'application/svc.response-object+json'
  const jwe = await sealPackage(text('x'), { sender, recipient, contentType })
  const own = { kid: 'key_b', privateKey: b.privateKey }
  await t.assert.rejects(openPackage(jwe, own), { code: 'sealed_content_type' })
  t.assert.deepEqual((await openPackage(jwe, own, { contentTypes: [contentType] })).plaintext, text('x'))

  const pair = await crypto.subtle.generateKey({ name: 'ECDH', namedCurve: 'P-384' }, true, ['deriveBits'])
  const curves = ['P-256', 'P-384'] as const
  const wide = await importPublicJwk(await crypto.subtle.exportKey('jwk', pair.publicKey), { curves })
  const mixed = await sealPackage(text('y'), { sender, recipient: { kid: 'key_w', publicKey: wide } })
  const privateKey = await importPrivateJwk(await crypto.subtle.exportKey('jwk', pair.privateKey), {
    use: 'encryption',
    curves,
  })
  t.assert.throws(() => readSealedPackage(mixed), { code: 'key_curve_unsupported' })
  t.assert.deepEqual(
    (await openPackage(mixed, { kid: 'key_w', privateKey }, { curves })).plaintext,
    text('y'),
  )
  t.assert.deepEqual(
    (await openPackage(mixed, { kid: 'key_a', privateKey: a.privateKey }, { curves })).plaintext,
    text('y'),
  )
})

/** A private key of somebody else's making: node:crypto stands in for a hardware security module. */
function keyElsewhere({ d, ...publicJwk }: PrivateJwk, use: KeyUse): PrivateKey {
  const key = createPrivateKey({ key: { ...publicJwk, d }, format: 'jwk' })
  return {
    use,
    publicJwk,
    sign: async (message) => sign('sha256', message, { key, dsaEncoding: 'ieee-p1363' }),
    agree: async (other) =>
      diffieHellman({ privateKey: key, publicKey: createPublicKey({ key: { ...other }, format: 'jwk' }) }),
  }
}

test('a private key may be implemented elsewhere: it opens packages and signs', async (t) => {
  const privateKey = keyElsewhere(b.privateJwk, 'encryption')
  const { plaintext } = await openPackage(sealed, { kid: 'key_b', privateKey })
  t.assert.equal(Buffer.from(plaintext).toString(), 'content')
  const signing = keyElsewhere(b.privateJwk, 'signing')
  t.assert.equal(await verifyEs256(b.publicKey, text('data'), await signEs256(signing, text('data'))), true)
  t.assert.throws(() => signEs256(privateKey, text('data')), { code: 'key_use_mismatch' })
})

test('[PKG-08] a key that cannot be used now says nothing about the package', async (t) => {
  const cause = new Error('the module is away')
  const privateKey = { ...keyElsewhere(b.privateJwk, 'encryption'), agree: () => Promise.reject(cause) }
  await t.assert.rejects(openPackage(sealed, { kid: 'key_b', privateKey }), {
    code: 'key_unavailable',
    cause,
  })
})
