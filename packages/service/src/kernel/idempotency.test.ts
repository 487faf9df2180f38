import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { contentHash, envelopeHash } from './idempotency.ts'

const base64url = fc.stringMatching(/^[A-Za-z0-9_-]{0,60}$/)
const params = fc.dictionary(fc.constantFrom('package_id', 'a"b'), fc.string({ unit: 'grapheme' }), {
  noNullPrototype: true,
})

test('[API-05] an envelope has the content hash of any body that says the same', () => {
  fc.assert(
    fc.property(params, base64url, base64url, base64url, (given, payload, header, signature) => {
      const envelope = { signature, protected: header, payload }
      const expected = contentHash({ params: given, body: envelope })
      assert.deepEqual(envelopeHash(given, envelope), expected)
      assert.notDeepEqual(envelopeHash(given, { ...envelope, payload: `${payload}A` }), expected)
      assert.notDeepEqual(envelopeHash({ ...given, other: '' }, envelope), expected)
    }),
  )
})
