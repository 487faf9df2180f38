import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { decodeBase64url, encodeBase64url } from './base64.ts'
import { bytesEqual, digestsEqual, parseContentDigest, parseDigest, sha256Digest } from './digest.ts'

const utf8 = new TextEncoder()

test('RFC 9530 appendix B.1 and RFC 9421 appendix B.2: digests of the sample bodies', async (t) => {
  t.assert.equal(
    await sha256Digest(utf8.encode('{"hello": "world"}\n')),
    'sha-256=:RK/0qy18MlBSVnWgjwz6lZEWjP/lF5HF9bvEF8FabDg=:',
  )
  t.assert.equal(
    await sha256Digest(utf8.encode('{"hello": "world"}')),
    'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:',
  )
})

const good = 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:'

test('a digest has a single representation', (t) => {
  t.assert.equal(parseDigest(good).length, 32)
  const refused = [
    good.replace('sha-256', 'SHA-256'),
    good.replace('sha-256', 'sha-512'),
    good.replace('=:X', ':X'),
    good.replace('=:', '= :'),
    good.replace('E=:', 'F=:'),
    good.replace('E=:', 'E:'),
    good.replace('X48', 'X4_'),
    ` ${good}`,
    `${good};a=1`,
    'sha-256=:AAAA:',
    'sha-256=::',
    '',
  ]
  for (const text of refused) t.assert.throws(() => parseDigest(text), { code: 'digest_malformed' }, text)
})

test('digests compare by value', async (t) => {
  assert.ok(digestsEqual(good, good))
  assert.ok(!digestsEqual(good, await sha256Digest(utf8.encode('other'))))
  assert.ok(!bytesEqual(Uint8Array.of(1, 2), Uint8Array.of(1)))
  t.assert.throws(() => digestsEqual(good, 'sha-256=:AAAA:'), { code: 'digest_malformed' })
})

test('RFC 9530 section 2: Content-Digest may contain several algorithms; sha-256 is used', (t) => {
  const other = 'sha-512=:AAAA:'
  t.assert.equal(parseContentDigest(good), good)
  t.assert.equal(parseContentDigest(`${other}, ${good}`), good)
  t.assert.equal(parseContentDigest(`${good}\t,  ${other}`), good)
  t.assert.throws(() => parseContentDigest(other), { code: 'digest_missing' })
  for (const field of [
    '',
    `${good},`,
    `${good}, ${good}`,
    `${good}, x=1`,
    `${good};p=1`,
    good.replace('E=:', 'F=:'),
  ]) {
    t.assert.throws(() => parseContentDigest(field), { code: 'digest_malformed' }, field)
  }
})

test('[PKG-01] base64url is canonical or refused', (t) => {
  t.assert.deepEqual(decodeBase64url(''), new Uint8Array())
  t.assert.deepEqual(decodeBase64url('AAE'), Uint8Array.of(0, 1))
  // RFC 4648 section 3.5: AAF would decode to the same two bytes as AAE.
  for (const text of ['AAF', 'AAE=', 'AA E', 'AAE\n', 'A', 'AA+A', 'AA/A', 'AAÄ', 'AA.A']) {
    t.assert.throws(
      () => decodeBase64url(text, 'payload'),
      { code: 'base64url_invalid', at: 'payload' },
      text,
    )
  }
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) =>
      bytesEqual(decodeBase64url(encodeBase64url(bytes)), bytes),
    ),
  )
  fc.assert(
    fc.property(
      fc.uint8Array({ minLength: 1, maxLength: 40 }),
      fc.nat(),
      fc.base64String(),
      (bytes, at, junk) => {
        const text = encodeBase64url(bytes)
        const i = at % text.length
        const changed = text.slice(0, i) + (junk[0] ?? '=') + text.slice(i + 1)
        if (changed === text) return true
        try {
          return !bytesEqual(decodeBase64url(changed), bytes)
        } catch {
          return true
        }
      },
    ),
  )
})

test('[EVT-14] whitespace around and inside a Content-Digest field takes linear time', (t) => {
  // A backtracking regular expression would take minutes.
  const blanks = ' \t'.repeat(500_000)
  t.assert.equal(parseContentDigest(`${blanks}${good}${blanks}`), good)
  t.assert.throws(() => parseContentDigest(`sha-512=:AAAA:${blanks}x,${good}`), { code: 'digest_malformed' })
})
