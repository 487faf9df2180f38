import { test } from 'node:test'
import fc from 'fast-check'
import { canonicalize } from './canonical-json.ts'
import { canonicalSealed, matchContentDigest, sealedContentDigest } from './content-digest.ts'
import { parseEnvelope, signEnvelope } from './envelope.ts'
import { generateKeyPair } from './keys.ts'
import { sealPackage } from './sealed-package.ts'
import { readSealedPackage, type SealedPackage } from './sealed-package-shape.ts'

const [signing, a, b] = await Promise.all([
  generateKeyPair('signing'),
  generateKeyPair('encryption'),
  generateKeyPair('encryption'),
])

function seal(content: Uint8Array, kid: string): Promise<SealedPackage> {
  return sealPackage(content, {
    sender: { kid, publicKey: a.publicKey },
    recipient: { kid: 'key_b', publicKey: b.publicKey },
  })
}

test('[PKG-02] the assembled RFC 8785 text of a sealed package equals its canonicalization', async (t) => {
  await fc.assert(
    fc.asyncProperty(
      fc.uint8Array({ minLength: 1, maxLength: 300 }),
      fc.string({ unit: 'grapheme', minLength: 1 }),
      async (content, kid) => {
        const jwe = await seal(content, kid)
        // As parsed by the service, with the members of the key in any order.
        const read = readSealedPackage(JSON.parse(JSON.stringify(jwe)))
        t.assert.equal(canonicalSealed(read), canonicalize(jwe))
      },
    ),
    { numRuns: 40 },
  )
})

test('[PKG-02] the digest of a sender matches the first rule, however the envelope is serialized', async (t) => {
  const jwe = await seal(new TextEncoder().encode('content'), 'key "a"')
  const digest = await sealedContentDigest(jwe)
  const { key, kid } = { key: signing.privateKey, kid: 'key_s' }
  const reversed = Object.fromEntries(Object.entries(jwe).toReversed()) as unknown as SealedPackage
  for (const sealed of [jwe, reversed]) {
    const envelope = await signEnvelope({ metadata: {}, jwe: sealed }, { key, kid })
    t.assert.equal(await matchContentDigest(parseEnvelope(JSON.stringify(envelope)), digest), 'jcs-jwe')
  }
})
