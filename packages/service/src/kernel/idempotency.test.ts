import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { envelopeHash } from './idempotency.ts'

const base64url = fc.stringMatching(/^[A-Za-z0-9_-]{0,60}$/)
const envelope = fc.record({ protected: base64url, payload: base64url, signature: base64url })
const params = fc.dictionary(fc.constantFrom('package_id', 'a"b'), fc.string({ unit: 'grapheme' }), {
  noNullPrototype: true,
})

type Text = { readonly protected: string; readonly payload: string; readonly signature: string }

function hashOf(given: object, text: Text): Uint8Array {
  return envelopeHash(given, { text, signingInput: Buffer.from(`${text.protected}.${text.payload}`) })
}

test('[API-05] envelopes have the same content hash if and only if parameters and members are equal', () => {
  fc.assert(
    fc.property(params, envelope, (given, text) => {
      const expected = hashOf(given, text)
      assert.deepEqual(hashOf({ ...given }, { ...text }), expected)
      for (const member of ['protected', 'payload', 'signature'] as const) {
        assert.notDeepEqual(hashOf(given, { ...text, [member]: `${text[member]}A` }), expected)
      }
      assert.notDeepEqual(hashOf({ ...given, other: '' }, text), expected)
    }),
  )
})

test('[API-05] a character that moves from one member to the next changes the hash', () => {
  const text = { protected: 'AB', payload: 'CD', signature: 'EF' }
  assert.notDeepEqual(hashOf({}, text), hashOf({}, { ...text, protected: 'ABC', payload: 'D' }))
  assert.notDeepEqual(hashOf({}, text), hashOf({}, { ...text, payload: 'CDE', signature: 'F' }))
})
