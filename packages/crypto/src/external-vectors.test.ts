import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { test, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { decodeBase64url, encodeBase64url } from './base64.ts'
import { canonicalBytes } from './canonical-json.ts'
import { closedObject, isObject } from './closed-object.ts'
import { parseEnvelope } from './envelope.ts'
import { verifyEs256 } from './es256.ts'
import { readPrivateJwk, readPublicJwk } from './jwk-shape.ts'
import { generateKeyPair, importPrivateJwk, importPublicJwk } from './keys.ts'
import { openPackage, sealPackage } from './sealed-package.ts'
import { readSealedPackage } from './sealed-package-shape.ts'
import { parseStrictJson } from './strict-json.ts'

// External vectors: Wycheproof, RFC 8785 and RFC 7520 files.
const folder =
  process.env.AEX_VECTORS ?? fileURLToPath(new URL('../../../../shared/vectors', import.meta.url))
const absent = existsSync(folder) ? false : 'The folder of external vectors is missing; set AEX_VECTORS.'

interface Case {
  readonly tcId: number
  readonly comment: string
  readonly result: string
  readonly msg: string
  readonly sig: string
  readonly jws: string
  readonly jwe: string
  readonly public: unknown
  readonly private: unknown
}
interface Group {
  readonly comment: string
  readonly publicKey: { readonly uncompressed: string }
  readonly public?: Readonly<Record<string, unknown>>
  readonly private?: Readonly<Record<string, unknown>>
  readonly tests: readonly Case[]
}

async function readJson<T>(name: string): Promise<T> {
  const value: T = JSON.parse(await readFile(`${folder}/${name}`, 'utf8'))
  return value
}

async function groupsOf(name: string): Promise<readonly Group[]> {
  return (await readJson<{ testGroups: readonly Group[] }>(`wycheproof/${name}`)).testGroups
}

async function accepts(attempt: () => unknown): Promise<boolean> {
  try {
    return (await attempt()) !== false
  } catch {
    return false
  }
}

function report(t: TestContext, ran: number, outOfScope: number, why: string): void {
  assert.ok(ran > 0)
  t.diagnostic(`${ran} ran, ${outOfScope} out of scope${outOfScope > 0 ? `: ${why}` : ''}`)
}

test('Wycheproof: raw ES256 signatures', { skip: absent }, async (t) => {
  let ran = 0
  for (const group of await groupsOf('ecdsa_secp256r1_sha256_p1363_test.json')) {
    const point = Buffer.from(group.publicKey.uncompressed, 'hex')
    const [x, y] = [encodeBase64url(point.subarray(1, 33)), encodeBase64url(point.subarray(33))]
    const key = await importPublicJwk({ kty: 'EC', crv: 'P-256', x, y })
    for (const { tcId, comment, msg, sig, result } of group.tests) {
      const verified = await verifyEs256(key, Buffer.from(msg, 'hex'), Buffer.from(sig, 'hex'))
      t.assert.equal(verified, result === 'valid', `${tcId} ${comment}`)
      ran++
    }
  }
  t.assert.equal(ran, 262)
  report(t, ran, 0, '')
})

test('Wycheproof: ECDH public keys through our import', { skip: absent }, async (t) => {
  let ran = 0
  for (const group of await groupsOf('ecdh_secp256r1_webcrypto_test.json')) {
    for (const { tcId, comment, result, public: publicJwk, private: privateJwk } of group.tests) {
      const imported = await accepts(() => importPublicJwk(publicJwk, { use: 'encryption' }))
      t.assert.equal(imported, result === 'valid', `${tcId} ${comment}`)
      assert.ok(await accepts(() => readPrivateJwk(privateJwk)), `private key of ${tcId}`)
      ran++
    }
  }
  report(t, ran, 0, '')
})

/** Verifies a compact JWS with our code: strict encodings, a closed header, a signing key, our verifier. */
async function verifyCompact(jws: string, jwk: unknown): Promise<boolean> {
  const key = await importPublicJwk(jwk, { use: 'signing' })
  const [header = '', payload = '', signature = '', ...rest] = jws.split('.')
  if (rest.length > 0 || jws.split('.').length !== 3) return false
  const json = parseStrictJson(decodeBase64url(header))
  const { alg } = closedObject(json, ['alg', 'kid'], 'envelope_header_members')
  decodeBase64url(payload)
  const input = new TextEncoder().encode(`${header}.${payload}`)
  return alg === 'ES256' && verifyEs256(key, input, decodeBase64url(signature))
}

/** ID-06: the registration names the use of a key, so what a JWK says about it is no reason to refuse it. */
function declaresOtherUse({
  use = 'sig',
  alg = 'ES256',
  key_ops = ['verify'],
}: Record<string, unknown>): boolean {
  return use !== 'sig' || alg !== 'ES256' || !(Array.isArray(key_ops) && key_ops.includes('verify'))
}

for (const name of ['json_web_signature_test.json', 'json_web_key_test.json']) {
  test(`Wycheproof: ${name}, cases for an ES256 verifier`, { skip: absent }, async (t) => {
    let ran = 0
    let outOfScope = 0
    for (const group of await groupsOf(name)) {
      const keys = group.public?.keys ?? [group.public]
      const jwk: unknown = Array.isArray(keys) ? keys[0] : undefined
      for (const { tcId, comment, jws, result } of group.tests) {
        const [protectedHeader, payload, signature] = jws.split('.')
        const envelope = JSON.stringify({ protected: protectedHeader, payload, signature })
        t.assert.equal(await accepts(() => parseEnvelope(envelope)), false, `${tcId} is no exchange envelope`)
        if (!isObject(jwk) || jwk.crv === undefined || jwk.crv === 'P-521' || declaresOtherUse(jwk))
          outOfScope++
        else {
          const verified = await accepts(() => verifyCompact(jws, jwk))
          t.assert.equal(verified, result === 'valid', `${tcId} ${comment}`)
          ran++
        }
      }
    }
    report(
      t,
      ran,
      outOfScope,
      'keys of other types, for ES512 or whose use we ignore; also refused as envelopes',
    )
  })
}

test('Wycheproof: parts of ECDH-ES messages in our form', { skip: absent }, async (t) => {
  const pair = await generateKeyPair('encryption')
  const own = await sealPackage(new TextEncoder().encode('x'), {
    sender: { kid: 'own', publicKey: pair.publicKey },
    recipient: { kid: 'vector', publicKey: pair.publicKey },
  })
  let ran = 0
  let outOfScope = 0
  for (const group of await groupsOf('json_web_encryption_test.json')) {
    for (const { tcId, comment, jwe, result } of group.tests) {
      const [header = '', encrypted_key, iv, ciphertext, tag] = jwe.split('.')
      const epk = epkOf(header)
      if (group.private?.kty !== 'EC' || group.private.crv !== 'P-256' || epk === undefined) {
        outOfScope++
        continue
      }
      const privateKey = await importPrivateJwk(group.private, { use: 'encryption' }).catch(
        () => pair.privateKey,
      )
      const slot = { encrypted_key, header: { alg: 'ECDH-ES+A256KW', epk, kid: 'vector' } }
      const carried = { ...own, iv, ciphertext, tag, recipients: [own.recipients[0], slot] }
      // Content that was sealed with another header never opens with ours, whatever the key.
      assert.ok(
        !(await accepts(() => openPackage(carried, { kid: 'vector', privateKey }))),
        `${tcId} ${comment}`,
      )
      if (comment.startsWith('tagTruncated')) {
        const truncated = { ...own, tag }
        t.assert.throws(() => readSealedPackage(truncated), { code: 'sealed_tag' }, comment)
      }
      const onCurve = await accepts(() => readPublicJwk(epk))
      if (result === 'valid') assert.ok(onCurve, `${tcId} ${comment}`)
      if (comment === 'rejectsInvalidCurvePoint') assert.ok(!onCurve, comment)
      ran++
    }
  }
  report(t, ran, outOfScope, 'not ECDH-ES on P-256, or no readable epk')
})

function epkOf(header: string): unknown {
  try {
    const json = parseStrictJson(decodeBase64url(header))
    return isObject(json) ? json.epk : undefined
  } catch {
    return undefined
  }
}

test('RFC 8785 files: input to canonical output', { skip: absent }, async (t) => {
  const names = ['arrays', 'french', 'structures', 'unicode', 'values', 'weird']
  for (const name of names) {
    const input = await readFile(`${folder}/jcs/input/${name}.json`)
    const output = await readFile(`${folder}/jcs/output/${name}.json`)
    t.assert.equal(Buffer.compare(canonicalBytes(parseStrictJson(input)), output), 0, name)
  }
  report(t, names.length, 0, '')
})

test('RFC 7520: keys on other curves, and messages with another profile', { skip: absent }, async (t) => {
  const signature = await readJson<{ input: { key: unknown }; output: { json_flat: unknown } }>(
    'jose/4_3.ecdsa_signature.json',
  )
  const { d: _private, ...es512 } = closedObject(
    signature.input.key,
    ['kty', 'kid', 'use', 'crv', 'x', 'y', 'd'],
    'key_malformed',
  )
  assert.ok(await accepts(() => importPublicJwk(es512, { curves: ['P-521'] })))
  assert.ok(!(await accepts(() => importPublicJwk(es512))))
  assert.ok(!(await accepts(() => importPublicJwk(signature.input.key, { curves: ['P-521'] }))))
  t.assert.throws(() => parseEnvelope(JSON.stringify(signature.output.json_flat)))

  const agreement = await readJson<{
    input: { key: unknown }
    encrypting_key: { epk: unknown }
    output: { json: unknown }
  }>('jose/5_4.key_agreement_with_key_wrapping_using_ecdh-es_and_aes-keywrap_with_aes-gcm.json')
  const curves = ['P-384'] as const
  assert.ok(await accepts(() => importPrivateJwk(agreement.input.key, { use: 'encryption', curves })))
  assert.ok(!(await accepts(() => importPrivateJwk(agreement.input.key, { use: 'encryption' }))))
  // The file contains the private ephemeral key; such an epk is refused.
  t.assert.throws(() => readPublicJwk(agreement.encrypting_key.epk, { curves }), {
    code: 'key_private_material',
  })

  const messages = [
    agreement.output.json,
    (await readJson<{ output: { json: unknown } }>('jose/5_10.including_additional_authentication_data.json'))
      .output.json,
    (await readJson<{ output: { json: unknown } }>('jose/5_13.encrypting_to_multiple_recipients.json')).output
      .json,
  ]
  for (const message of messages) {
    assert.ok(isObject(message))
    t.assert.throws(() => readSealedPackage(message))
  }
  report(t, 4, 0, '')
})
