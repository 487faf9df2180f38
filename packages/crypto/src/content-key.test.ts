import assert from 'node:assert/strict'
import { createCipheriv } from 'node:crypto'
import { test } from 'node:test'
import { encodeBase64url } from './base64.ts'
import { contentKeyCommitment, unwrapContentKey, wrapContentKey } from './content-key.ts'
import { generateKeyPair, importPrivateJwk } from './keys.ts'
import { openDisclosedPackage, openPackage, sealPackage } from './sealed-package.ts'

const a = await generateKeyPair('encryption')
const b = await generateKeyPair('encryption')
const text = (value: string) => new TextEncoder().encode(value)

test('[PKG-02] a wrapped content key is unwrapped by its recipient alone', async () => {
  const contentKey = crypto.getRandomValues(new Uint8Array(32))
  const wrapped = await wrapContentKey(contentKey, { kid: 'key_b', publicKey: b.publicKey })
  assert.deepEqual(await unwrapContentKey(wrapped, b.privateKey), contentKey)
  await assert.rejects(unwrapContentKey(wrapped, a.privateKey))
})

test('[O-17] a commitment is HMAC-SHA-256 of a tag under the content key', () => {
  // python3 -c "import hmac,base64; print(base64.urlsafe_b64encode(hmac.digest(bytes(range(32)), b'agent-exchange/content-key/v1', 'sha256')))"
  const key = Uint8Array.from({ length: 32 }, (_, at) => at)
  assert.equal(contentKeyCommitment(key), 'inlNBGGy4APhWMAiPW0thyd3GX6tAhuEyXtDdWA_UUk')
})

test('[O-17] the commitment that a sealer gets is that of the key which opens the package', async () => {
  let committed = ''
  const jwe = await sealPackage(text('content'), {
    sender: { kid: 'key_a', publicKey: a.publicKey },
    recipient: { kid: 'key_b', publicKey: b.publicKey },
    aad: (commitment) => text((committed = commitment)),
  })
  const { contentKey } = await openPackage(jwe, { kid: 'key_b', privateKey: b.privateKey })
  assert.equal(contentKeyCommitment(contentKey), committed)
  const shown = await openDisclosedPackage(jwe, contentKey)
  assert.deepEqual([shown.plaintext, shown.aad], [text('content'), text(committed)])
})

test('a disclosed key opens its own package alone, and a wrong one nothing', async () => {
  const seal = () =>
    sealPackage(text('content'), {
      sender: { kid: 'key_a', publicKey: a.publicKey },
      recipient: { kid: 'key_b', publicKey: b.publicKey },
    })
  const [first, second] = [await seal(), await seal()]
  const { contentKey } = await openPackage(first, { kid: 'key_a', privateKey: a.privateKey })
  for (const key of [contentKey.subarray(1), new Uint8Array(32), new Uint8Array(0)])
    await assert.rejects(openDisclosedPackage(first, key), { code: 'sealed_not_opened' })
  await assert.rejects(openDisclosedPackage(second, contentKey), { code: 'sealed_not_opened' })
})

test('a signing key opens no package', async () => {
  const jwe = await sealPackage(text('x'), {
    sender: { kid: 'key_a', publicKey: a.publicKey },
    recipient: { kid: 'key_b', publicKey: b.publicKey },
  })
  const privateKey = await importPrivateJwk(b.privateJwk, { use: 'signing' })
  await assert.rejects(openPackage(jwe, { kid: 'key_b', privateKey }), { code: 'key_use_mismatch' })
})

test('[O-17] a shorter key is not disclosed for a longer one that has the same commitment', async () => {
  const short = crypto.getRandomValues(new Uint8Array(16))
  const padded = new Uint8Array(32)
  padded.set(short)
  assert.equal(contentKeyCommitment(short), contentKeyCommitment(padded), 'HMAC pads keys with zeros')
  const party = { kid: 'key_a', publicKey: a.publicKey }
  const jwe = await sealPackage(text('content'), { sender: party, recipient: party })
  const iv = new Uint8Array(12)
  const cipher = createCipheriv('aes-128-gcm', short, iv).setAAD(text(`${jwe.protected}.${jwe.aad}`))
  const ciphertext = Buffer.concat([cipher.update('other content'), cipher.final()]).toString('base64url')
  const tag = cipher.getAuthTag().toString('base64url')
  const crafted = { ...jwe, iv: encodeBase64url(iv), ciphertext, tag }
  await assert.rejects(openDisclosedPackage(crafted, short), { code: 'sealed_not_opened' })
})
