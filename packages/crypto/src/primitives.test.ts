import { test } from 'node:test'
import fc from 'fast-check'
import { derFromRaw, rawFromDer } from './es256-der.ts'
import { generateKeyPair } from './keys.ts'
import * as node from './primitives-node.ts'
import type { Primitives } from './primitives.ts'
import * as web from './primitives-web.ts'

const runtimes: Readonly<Record<string, Primitives>> = { node, web }
const { privateJwk, publicKey } = await generateKeyPair('signing')
const abc = new TextEncoder().encode('abc')

for (const [name, primitives] of Object.entries(runtimes)) {
  test(`${name}: SHA-256 of "abc" (FIPS 180-4)`, async (t) => {
    const digest = await primitives.sha256(abc)
    t.assert.equal(
      Buffer.from(digest).toString('hex'),
      'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad',
    )
    t.assert.equal(Object.getPrototypeOf(digest), Uint8Array.prototype)
    t.assert.deepEqual(primitives.sha256Sync(abc), digest)
    t.assert.equal(Object.getPrototypeOf(primitives.sha256Sync(abc)), Uint8Array.prototype)
  })

  test(`${name}: signs 64 bytes, and verifies only them`, async (t) => {
    const sign = await primitives.importSigner(privateJwk)
    const verify = await primitives.importVerifier(publicKey.jwk)
    const signature = await sign(abc)
    t.assert.equal(signature.length, 64)
    t.assert.equal(await verify(abc, signature), true)
    t.assert.equal(await verify(abc.subarray(1), signature), false)
    t.assert.equal(await verify(abc, signature.toReversed()), false)
  })

  test(`${name}: refuses a point off the curve`, async (t) => {
    await t.assert.rejects(primitives.importVerifier({ ...publicKey.jwk, y: publicKey.jwk.x }))
  })

  test(`${name}: base64 in both alphabets`, (t) => {
    const bytes = Uint8Array.from({ length: 20_000 }, (_, i) => (i * 251) & 0xff)
    for (const alphabet of ['base64', 'base64url'] as const) {
      const text = primitives.toBase64(bytes, alphabet)
      t.assert.equal(text, Buffer.from(bytes).toString(alphabet))
      t.assert.deepEqual(primitives.fromBase64(text, alphabet), bytes)
    }
    t.assert.deepEqual(
      primitives.toBase64(bytes.subarray(3, 5), 'base64url'),
      Buffer.from(bytes.slice(3, 5)).toString('base64url'),
    )
  })
}

test('each runtime verifies what the other signs', async () => {
  const signers = [await node.importSigner(privateJwk), await web.importSigner(privateJwk)]
  const verifiers = [await node.importVerifier(publicKey.jwk), await web.importVerifier(publicKey.jwk)]
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 300 }), fc.nat(63), async (data, at) => {
      for (const sign of signers) {
        const signature = await sign(data)
        const damaged = signature.with(at, (signature[at] ?? 0) ^ 1)
        for (const verify of verifiers) {
          if (!(await verify(data, signature)) || (await verify(data, damaged))) return false
        }
      }
      return true
    }),
    { numRuns: 60 },
  )
})

test('r||s and DER convert into each other, including leading zeros and high bits', () => {
  const half = fc.tuple(fc.nat(31), fc.uint8Array({ minLength: 32, maxLength: 32 })).map(([zeros, bytes]) => {
    const value = Uint8Array.from(bytes, (byte, i) => (i < zeros ? 0 : byte))
    value[31] = (value[31] ?? 0) | 1
    return value
  })
  fc.assert(
    fc.property(half, half, (r, s) => {
      const raw = Uint8Array.of(...r, ...s)
      const der = derFromRaw(raw)
      const positive = (der[4] ?? 0) < 0x80 && der[1] === der.length - 2
      return positive && Buffer.compare(rawFromDer(der), raw) === 0
    }),
  )
})
