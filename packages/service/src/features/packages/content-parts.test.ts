import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { test } from 'node:test'
import { fromParts, toParts } from './content-parts.ts'

const envelope = (payload: string, space = '') =>
  `{${space}"protected":"e30","payload"${space}:${space}"${payload}",${space}"signature":"AA"}`
const LARGEST_PART = 3_900

test('[PKG-14] content is restored byte for byte, whatever its length and spacing', () => {
  for (const length of [0, 1, 2, 3, 3_886, 3_887, 3_888, 3_889, 7_774, 7_775, 9_300, 100_001]) {
    for (const space of ['', '\n  ', ' '.repeat(4_000)]) {
      const payload = randomBytes(length)
      const encoded = payload.toString('base64url')
      const text = envelope(encoded, space)
      const parts = toParts(text, encoded.length, payload)
      assert.equal(fromParts(parts).toString(), text, `${length} bytes`)
      for (const { before, payload: bytes, after } of parts) {
        const size = before.length + bytes.length + after.length
        assert.ok(size > 0 && size <= LARGEST_PART, `${size} bytes in one part`)
      }
    }
  }
})

test('[PKG-14] a payload with escapes is restored as written', () => {
  const payload = randomBytes(4_000)
  const encoded = payload.toString('base64url')
  const text = envelope(`\\u00${encoded.charCodeAt(0).toString(16)}${encoded.slice(1)}`)
  const parts = toParts(text, encoded.length, payload)
  assert.equal(fromParts(parts).toString(), text)
  assert.ok(parts.every((part) => part.payload.length === 0))
})

test('an envelope of 12 KB is three parts, and a quarter of its payload is not stored', () => {
  const payload = randomBytes(9_200)
  const encoded = payload.toString('base64url')
  const parts = toParts(envelope(encoded), encoded.length, payload)
  assert.equal(parts.length, 3)
  assert.equal(
    parts.reduce((sum, part) => sum + part.payload.length, 0),
    payload.length,
  )
})
