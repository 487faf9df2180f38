import { test } from 'node:test'
import fc from 'fast-check'
import { readDetached, signatureBytes, signDetached, verifyDetached } from './detached-signature.ts'
import { derFromRaw } from './es256-der.ts'
import { generateKeyPair } from './keys.ts'
import * as statements from './statements.ts'

const { publicKey, privateKey } = await generateKeyPair('signing')
const other = await generateKeyPair('signing')
const signer = { key: privateKey, keyId: 'key_1' }
const body = {
  receipt_id: 'r_1',
  state: 'received',
  checks: [{ check_id: 'object_schema', outcome: 'passed' }],
  n: 1.5,
}

const encode = (bytes: Uint8Array) => Buffer.from(bytes).toString('base64url')

const profiles = [
  ['[POL-01] policy receipt', 'signature', statements.signPolicyReceipt, statements.verifyPolicyReceipt],
  ['[PKG-03] ds_x manifest', 'sender_signature', statements.signManifest, statements.verifyManifest],
  ['[ID-10] skill release', 'manifest_signature', statements.signSkillRelease, statements.verifySkillRelease],
] as const

for (const [name, member, sign, verify] of profiles) {
  test(`${name}: signed over RFC 8785 without ${member}`, async (t) => {
    const signature = await sign(body, signer)
    t.assert.deepEqual(Object.keys(signature), ['key_id', 'algorithm', 'signature'])
    const signed = { [member]: signature, ...body }
    await verify(signed, publicKey)
    // Member order and an existing signature in the input do not matter.
    await verify(JSON.parse(JSON.stringify({ ...body, [member]: signature })) as object, publicKey)
    const again = await sign(signed, signer)
    await verify({ ...body, [member]: again }, publicKey)
    await t.assert.rejects(verify(signed, other.publicKey), { code: 'signature_mismatch' })
    await t.assert.rejects(verify({ ...signed, state: 'opened' }, publicKey), { code: 'signature_mismatch' })
    await t.assert.rejects(verify({ ...signed, extra: 1 }, publicKey), { code: 'signature_mismatch' })
    await t.assert.rejects(verify(body, publicKey), { code: 'signature_malformed' })
  })
}

test('[POL-01] a signature has exactly three members, ES256 and 64 bytes', async (t) => {
  const good = await signDetached(body, { ...signer, member: 'signature' })
  const raw = Uint8Array.from(Buffer.from(good.signature, 'base64url'))
  const refused: [string, unknown][] = [
    ['signature_malformed', null],
    ['signature_malformed', good.signature],
    ['signature_malformed', { ...good, extra: 1 }],
    ['signature_malformed', { ...good, key_id: '' }],
    ['signature_malformed', { ...good, key_id: 7 }],
    ['signature_malformed', { ...good, signature: 7 }],
    ['signature_malformed', { key_id: good.key_id, signature: good.signature }],
    ['signature_algorithm', { ...good, algorithm: 'none' }],
    ['signature_algorithm', { ...good, algorithm: 'HS256' }],
    ['signature_algorithm', { ...good, algorithm: 'es256' }],
    ['signature_encoding', { ...good, signature: '' }],
    ['signature_encoding', { ...good, signature: `${good.signature}=` }],
    ['signature_encoding', { ...good, signature: `${good.signature}===` }],
    ['signature_encoding', { ...good, signature: ` ${good.signature}` }],
    ['signature_encoding', { ...good, signature: `${good.signature.slice(0, 85)}B` }],
    ['signature_encoding', { ...good, signature: `-+${good.signature.slice(2)}` }],
    ['signature_encoding', { ...good, signature: encode(raw.subarray(1)) }],
    ['signature_encoding', { ...good, signature: encode(Uint8Array.of(0, ...raw)) }],
    ['signature_encoding', { ...good, signature: encode(derFromRaw(raw)) }],
    ['signature_mismatch', { ...good, signature: encode(new Uint8Array(64)) }],
  ]
  for (const [code, signature] of refused) {
    const check = verifyDetached({ ...body, signature }, { member: 'signature', publicKey })
    await t.assert.rejects(check, { code }, JSON.stringify(signature))
  }
  t.assert.equal(readDetached({ ...body, signature: good }, 'signature').key_id, 'key_1')
})

test('[POL-01][PKG-08][PKG-10][O-22] a signature in base64 or base64url, padded or not, is the same signature', async (t) => {
  for (let tries = 0; tries < 20; tries++) {
    const good = await signDetached(body, { ...signer, member: 'signature' })
    t.assert.match(good.signature, /^[\w-]{86}$/)
    const raw = Buffer.from(good.signature, 'base64url')
    const spellings = [
      good.signature,
      `${good.signature}==`,
      raw.toString('base64'),
      raw.toString('base64').replaceAll('=', ''),
    ]
    for (const signature of spellings) {
      await verifyDetached({ ...body, signature: { ...good, signature } }, { member: 'signature', publicKey })
      t.assert.deepEqual(Buffer.from(signatureBytes({ signature })), raw)
    }
  }
})

test('[PKG-08][PKG-10] verification reports whether a statement is bound to its package', async (t) => {
  const bound = {
    ...body,
    signature: await statements.signPackageStatement(body, { ...signer, packageId: 'pkg_1' }),
  }
  const plain = { ...body, signature: await signDetached(body, { ...signer, member: 'signature' }) }
  const check = { packageId: 'pkg_1', publicKey }
  t.assert.equal(await statements.verifyPackageStatement(bound, check), 'bound')
  t.assert.equal(await statements.verifyPackageStatement(plain, check), 'plain')
  const boundOnly = { ...check, accept: ['bound'] } as const
  t.assert.equal(await statements.verifyPackageStatement(bound, boundOnly), 'bound')
  await t.assert.rejects(statements.verifyPackageStatement(plain, boundOnly), { code: 'signature_mismatch' })
  const elsewhere = { ...check, packageId: 'pkg_2' }
  await t.assert.rejects(statements.verifyPackageStatement(bound, elsewhere), { code: 'signature_mismatch' })
})

test('[POL-01][PKG-03] any flipped bit of a signed object is detected', async () => {
  const object = { ...body, signature: await signDetached(body, { ...signer, member: 'signature' }) }
  const bytes = new TextEncoder().encode(JSON.stringify(object))
  const keyIdAt = JSON.stringify(object).indexOf('key_1')
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(7), async (at, bit) => {
      // key_id is not covered: it only selects the key, and another key would not verify.
      if (at >= keyIdAt && at < keyIdAt + 5) return true
      const flipped = bytes.with(at, (bytes[at] ?? 0) ^ (1 << bit))
      try {
        const value: object = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(flipped))
        await verifyDetached(value, { member: 'signature', publicKey })
        return false
      } catch {
        return true
      }
    }),
    { numRuns: 300 },
  )
})
