import { test } from 'node:test'
import { exchangeEnvelope, nativePackageBody, operationExamples, validatorOf } from '@agent-exchange/protocol'
import fc from 'fast-check'
import { flattenedVerify } from 'jose'
import { contentDigests, matchContentDigest, sealedContentDigest } from './content-digest.ts'
import { sha256Digest } from './digest.ts'
import { parseEnvelope, signEnvelope, verifyEnvelope } from './envelope.ts'
import { derFromRaw } from './es256-der.ts'
import { signEs256 } from './es256.ts'
import { generateKeyPair } from './keys.ts'
import { readSealedPackage } from './sealed-package-shape.ts'
import { sealPackage } from './sealed-package.ts'

const signing = await generateKeyPair('signing')
const a = await generateKeyPair('encryption')
const b = await generateKeyPair('encryption')
const jwe = await sealPackage(new TextEncoder().encode('content'), {
  sender: { kid: 'key_a', publicKey: a.publicKey },
  recipient: { kid: 'key_b', publicKey: b.publicKey },
})
const metadata = { package_id: 'pkg_1', note: 'ä' }
const envelope = await signEnvelope({ metadata, jwe }, { key: signing.privateKey, kid: 'key_s' })

const encode = (value: string | Uint8Array) => Buffer.from(value).toString('base64url')
const decode = (value: string) => Buffer.from(value, 'base64url').toString()
/** A valid signature over an arbitrary header and payload. */
async function signText(header: string, payload: string): Promise<string> {
  const input = `${encode(header)}.${encode(payload)}`
  const signature = await signEs256(signing.privateKey, new TextEncoder().encode(input))
  return JSON.stringify({ protected: encode(header), payload: encode(payload), signature: encode(signature) })
}
const headerText = decode(envelope.protected)
const payloadText = decode(envelope.payload)

test('[PKG-01] a signed envelope parses, verifies and round-trips', async (t) => {
  for (const input of [
    JSON.stringify(envelope),
    new TextEncoder().encode(JSON.stringify(envelope, null, 2)),
  ]) {
    const parsed = parseEnvelope(input)
    await verifyEnvelope(parsed, signing.publicKey)
    t.assert.equal(parsed.kid, 'key_s')
    t.assert.deepEqual(parsed.metadata, metadata)
    t.assert.deepEqual(parsed.jwe, jwe)
  }
  t.assert.deepEqual(JSON.parse(headerText), {
    alg: 'ES256',
    kid: 'key_s',
    typ: 'application/svc+jws',
    cty: 'application/svc.exchange-envelope+json',
    syv: 'svc/1.0',
  })
})

test('[PKG-01] jose verifies our envelopes', async (t) => {
  const { payload } = await flattenedVerify(envelope, { ...signing.publicKey.jwk })
  t.assert.deepEqual(JSON.parse(new TextDecoder().decode(payload)), { jwe, metadata })
})

test('[PKG-01] another key does not verify', async (t) => {
  const other = await generateKeyPair('signing')
  const parsed = parseEnvelope(JSON.stringify(envelope))
  await t.assert.rejects(verifyEnvelope(parsed, other.publicKey), { code: 'signature_mismatch' })
})

test('[PKG-01] header attacks with a valid signature are refused', async (t) => {
  const header: Record<string, unknown> = JSON.parse(headerText)
  const change = (members: object) => JSON.stringify({ ...header, ...members })
  const refused: [string, string][] = [
    ['envelope_algorithm', change({ alg: 'none' })],
    ['envelope_algorithm', change({ alg: 'HS256' })],
    ['envelope_algorithm', change({ alg: 'ES384' })],
    ['envelope_algorithm', change({ alg: ['ES256'] })],
    ['envelope_type', change({ typ: 'JWT' })],
    ['envelope_content_type', change({ cty: 'application/json' })],
    ['envelope_version', change({ syv: 'svc/2.0' })],
    ['envelope_key_id', change({ kid: '' })],
    ['envelope_key_id', change({ kid: { a: 1 } })],
    ['envelope_header_members', change({ crit: ['b64'], b64: false })],
    ['envelope_header_members', change({ b64: true })],
    ['envelope_header_members', change({ zip: 'DEF' })],
    ['envelope_header_members', change({ jwk: signing.publicKey.jwk })],
    ['envelope_header_members', change({ jku: 'https://evil.example/jwks' })],
    ['envelope_header_members', change({ x5c: [] })],
    ['envelope_header_members', change({ x5u: 'https://evil.example' })],
    ['envelope_header_members', change({ 'x5t#S256': 'AA' })],
    ['envelope_header_members', JSON.stringify({ ...header, kid: undefined, KID: 'key_s' })],
    ['envelope_header_members', '{}'],
    ['envelope_header_members', 'null'],
    ['json_duplicate_member', headerText.replace('{', '{"alg":"none",')],
    ['json_duplicate_member', headerText.replace('{', '{"\\u0061lg":"none",')],
    ['json_syntax', `${headerText}x`],
    ['json_byte_order_mark', `\ufeff${headerText}`],
  ]
  for (const [code, text] of refused) {
    const input = await signText(text, payloadText)
    t.assert.throws(() => parseEnvelope(input), { code, at: 'protected' }, text)
  }
})

test('[PKG-01] payload attacks with a valid signature are refused', async (t) => {
  const refused: [string, string][] = [
    ['json_duplicate_member', payloadText.replace('{', '{"metadata":{},')],
    ['json_duplicate_member', payloadText.replace('"package_id"', '"package_id":"pkg_2","package\\u005fid"')],
    ['envelope_payload_members', payloadText.replace('{', '{"x":1,')],
    ['envelope_payload_members', '{"metadata":{}}'],
    ['envelope_payload_members', '[]'],
    ['sealed_members', '{"metadata":{},"jwe":{}}'],
    ['json_syntax', ''],
    ['json_number', payloadText.replace('"pkg_1"', '1e999')],
    ['json_depth', payloadText.replace('"pkg_1"', '['.repeat(40) + ']'.repeat(40))],
  ]
  for (const [code, text] of refused) {
    const input = await signText(headerText, text)
    t.assert.throws(() => parseEnvelope(input), { code }, text)
  }
  const notUtf8 = JSON.stringify({ ...envelope, payload: encode(Uint8Array.of(0x7b, 0xff, 0x7d)) })
  t.assert.throws(() => parseEnvelope(notUtf8), { code: 'json_encoding', at: 'payload' })
})

test('[PKG-01] outer attacks: members, encodings, signature length', (t) => {
  const raw = Uint8Array.from(Buffer.from(envelope.signature, 'base64url'))
  const refused: [string, string][] = [
    ['envelope_members', JSON.stringify({ ...envelope, header: {} })],
    ['envelope_members', JSON.stringify({ ...envelope, payload: null })],
    ['envelope_members', JSON.stringify({ payload: envelope.payload, signatures: [envelope] })],
    ['envelope_members', JSON.stringify(`${envelope.protected}.${envelope.payload}.${envelope.signature}`)],
    ['envelope_members', '[]'],
    ['json_duplicate_member', JSON.stringify(envelope).replace('{', '{"payload":"",')],
    ['base64url_invalid', JSON.stringify({ ...envelope, payload: `${envelope.payload}=` })],
    ['base64url_invalid', JSON.stringify({ ...envelope, payload: `${envelope.payload}\n` })],
    ['base64url_invalid', JSON.stringify({ ...envelope, protected: ` ${envelope.protected}` })],
    ['base64url_invalid', JSON.stringify({ ...envelope, signature: `${envelope.signature}==` })],
    ['signature_encoding', JSON.stringify({ ...envelope, signature: '' })],
    ['signature_encoding', JSON.stringify({ ...envelope, signature: encode(raw.subarray(1)) })],
    ['signature_encoding', JSON.stringify({ ...envelope, signature: encode(Uint8Array.of(...raw, 0)) })],
    ['signature_encoding', JSON.stringify({ ...envelope, signature: encode(derFromRaw(raw)) })],
    ['json_syntax', `${JSON.stringify(envelope)}{}`],
  ]
  for (const [code, input] of refused) t.assert.throws(() => parseEnvelope(input), { code }, input)
})

test('[PKG-01] any flipped bit in the text is detected', async () => {
  const bytes = new TextEncoder().encode(JSON.stringify(envelope))
  await fc.assert(
    fc.asyncProperty(fc.nat(bytes.length - 1), fc.nat(7), async (at, bit) => {
      try {
        await verifyEnvelope(parseEnvelope(bytes.with(at, (bytes[at] ?? 0) ^ (1 << bit))), signing.publicKey)
        return false
      } catch (error) {
        return error instanceof Error && error.name === 'CryptoError'
      }
    }),
    { numRuns: 600 },
  )
})

test('content_digest for every rule of O-17, distinguished by the submitted text', async (t) => {
  const ours = parseEnvelope(JSON.stringify(envelope))
  const digests = await contentDigests(ours)
  t.assert.equal(digests['jcs-jwe'], await sealedContentDigest(jwe))
  t.assert.equal(digests['jwe-text'], digests['jcs-jwe'], 'our payloads are canonical')
  t.assert.equal(digests['ciphertext-bytes'], await sha256Digest(Buffer.from(jwe.ciphertext, 'base64url')))

  const jweText = JSON.stringify(Object.fromEntries(Object.entries(jwe).toReversed()), null, 1)
  const theirs = parseEnvelope(await signText(headerText, `{"metadata":{}, "jwe" : ${jweText} }`))
  t.assert.equal(theirs.jweText, jweText)
  const textDigest = await sha256Digest(new TextEncoder().encode(jweText))
  t.assert.equal(await matchContentDigest(theirs, textDigest), 'jwe-text')
  t.assert.equal(await matchContentDigest(theirs, digests['jcs-jwe']), 'jcs-jwe')
  t.assert.equal(await matchContentDigest(theirs, digests['ciphertext-bytes']), 'ciphertext-bytes')
  t.assert.equal(await matchContentDigest(theirs, textDigest, ['jcs-jwe']), undefined)
  t.assert.equal(await matchContentDigest(theirs, await sha256Digest(new Uint8Array())), undefined)
  await t.assert.rejects(matchContentDigest(theirs, 'sha-256=:AAAA:'), { code: 'digest_malformed' })
})

test('signing refuses input that could not be parsed again', async (t) => {
  const key = { key: signing.privateKey, kid: 'key_s' }
  await t.assert.rejects(signEnvelope({ metadata: { a: Number.NaN }, jwe }, key), {
    code: 'json_not_representable',
  })
  await t.assert.rejects(signEnvelope({ metadata, jwe }, { ...key, kid: '' }), { code: 'envelope_key_id' })
})

test('[PKG-01][PKG-02][API-02] the published schemas match what this package writes and reads', (t) => {
  const published = validatorOf(exchangeEnvelope)
  const { native } = operationExamples.createPackageTransfer.requests ?? {}
  const example = parseEnvelope(JSON.stringify(native))
  t.assert.deepEqual(published({ metadata: example.metadata, jwe: example.jwe }), [])
  t.assert.deepEqual(validatorOf(nativePackageBody)(envelope), [])

  const made = { metadata: example.metadata, jwe }
  t.assert.deepEqual(published(made), [])
  for (const member of ['aad', 'ciphertext', 'iv', 'tag'] as const) {
    const longer = { ...jwe, [member]: `${jwe[member]}=` }
    t.assert.throws(() => readSealedPackage(longer), member)
    t.assert.notDeepEqual(published({ ...made, jwe: longer }), [], member)
  }
  const alone = { ...jwe, recipients: jwe.recipients.slice(0, 1) }
  t.assert.throws(() => readSealedPackage(alone))
  t.assert.notDeepEqual(published({ ...made, jwe: alone }), [])
})
