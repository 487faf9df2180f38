import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import {
  canonicalBytes,
  canonicalize,
  encodeBase64url,
  sha256Digest,
  signEs256,
  type Envelope,
  type SealedPackage,
} from '@agent-exchange/crypto'
import type { Failure, PackageMetadata } from '@agent-exchange/protocol'
import {
  assertProblem,
  assertSuccess,
  draftPackage,
  organizations,
  sendPackage,
  startWorld,
  submit,
  untilBlocked,
  type Answer,
  type DraftOptions,
} from '@agent-exchange/testkit'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const [seats, cars] = await organizations(world, 'seats', 'cars')

const HEADER = {
  alg: 'ES256',
  cty: 'application/svc.exchange-envelope+json',
  kid: seats.signing.keyId,
  syv: 'svc/1.0',
  typ: 'application/svc+jws',
}

const encode = (part: object | string) =>
  encodeBase64url(typeof part === 'string' ? Buffer.from(part) : canonicalBytes(part))

/** An envelope with any header and payload text and a valid signature. */
async function envelopeOf(header: object | string, payload: object | string): Promise<Envelope> {
  const [head, body] = [encode(header), encode(payload)]
  const signature = await signEs256(seats.signing.pair.privateKey, Buffer.from(`${head}.${body}`))
  return { protected: head, payload: body, signature: encodeBase64url(signature) }
}

async function partsOf(options?: DraftOptions) {
  const { body, metadata, receipt } = await draftPackage(seats, cars, options)
  const payload = JSON.parse(Buffer.from((body as Envelope).payload, 'base64url').toString()) as {
    metadata: PackageMetadata
    jwe: SealedPackage
  }
  return { ...payload, receipt, metadata, body: body as Envelope }
}

const packageCount = async () => Number((await world.sql`select count(*) from package`)[0]?.['count'])

test('[PKG-01] the header has exactly its five parameters, each with its only value', async () => {
  const { metadata, jwe } = await partsOf()
  const { typ: _typ, ...withoutTyp } = HEADER
  const changes: [object, string][] = [
    ...['crit', 'b64', 'zip', 'jwk', 'jku', 'x5u', 'x5c', 'x5t', 'enc', 'url'].map(
      (name): [object, string] => [
        { ...HEADER, [name]: name === 'crit' ? ['b64'] : 'x' },
        'envelope_header_members',
      ],
    ),
    [withoutTyp, 'envelope_header_members'],
    [{ ...HEADER, alg: 'none' }, 'envelope_algorithm'],
    [{ ...HEADER, alg: 'HS256' }, 'envelope_algorithm'],
    [{ ...HEADER, alg: 'ES384' }, 'envelope_algorithm'],
    [{ ...HEADER, typ: 'JOSE' }, 'envelope_type'],
    [{ ...HEADER, cty: 'application/json' }, 'envelope_content_type'],
    [{ ...HEADER, syv: 'svc/2.0' }, 'envelope_version'],
    [{ ...HEADER, kid: '' }, 'envelope_key_id'],
    [{ ...HEADER, kid: 7 }, 'envelope_key_id'],
  ]
  for (const [header, reason] of changes) {
    const answer = await seats.post('/v1/packages', await envelopeOf(header, { metadata, jwe }))
    assertProblem(answer, 'envelope_invalid', { reason })
  }
  const twice = await envelopeOf('{"alg":"none",' + JSON.stringify(HEADER).slice(1), { metadata, jwe })
  assertProblem(await seats.post('/v1/packages', twice), 'envelope_invalid', {
    reason: 'json_duplicate_member',
  })
  assert.equal(await packageCount(), 0)
})

test('[PKG-01][ERR-02] an envelope has exactly three members in canonical base64url and a payload of metadata and jwe', async () => {
  const { metadata, jwe, body } = await partsOf()
  const malformed: [unknown, 'validation_failed' | 'envelope_invalid'][] = [
    [{ ...body, header: { kid: 'x' } }, 'validation_failed'],
    [{ payload: body.payload, signatures: [] }, 'validation_failed'],
    [{ ...body, signature: `${body.signature}=` }, 'validation_failed'],
    [{ ...body, payload: '' }, 'validation_failed'],
    [{ ...body, payload: 'A' }, 'validation_failed'],
    [{ ...body, signature: body.signature.slice(0, -2) }, 'validation_failed'],
    [{ ...body, signature: `${body.signature.slice(0, -1)}B` }, 'validation_failed'],
    [await envelopeOf(HEADER, { metadata, jwe, plaintext: 'CANARY' }), 'envelope_invalid'],
    [await envelopeOf(HEADER, { metadata }), 'envelope_invalid'],
    [await envelopeOf(HEADER, [metadata, jwe]), 'envelope_invalid'],
    [
      await envelopeOf(HEADER, `{"metadata":{},${canonicalize({ metadata, jwe }).slice(1)}`),
      'envelope_invalid',
    ],
    [await envelopeOf(HEADER, { metadata: { ...metadata, CANARY: 1 }, jwe }), 'validation_failed'],
    [
      await envelopeOf(HEADER, { metadata: { ...metadata, skill_id: 'x'.repeat(257) }, jwe }),
      'validation_failed',
    ],
    [
      await envelopeOf(HEADER, { metadata: { ...metadata, policy_receipt_id: 'a\0' }, jwe }),
      'validation_failed',
    ],
    [await envelopeOf({ ...HEADER, kid: 'a\0b' }, { metadata, jwe }), 'validation_failed'],
  ]
  for (const [submission, code] of malformed) {
    const answer = await seats.post('/v1/packages', submission)
    assertProblem(answer, code)
    assert.doesNotMatch(answer.text, /CANARY/)
  }
})

test('[PKG-01] a changed signature, header or payload does not verify', async () => {
  const { body } = await partsOf()
  const { body: other } = await partsOf()
  const flipped = (body.signature.startsWith('A') ? 'B' : 'A') + body.signature.slice(1)
  for (const changed of [
    { signature: flipped },
    { payload: other.payload },
    { signature: other.signature },
  ]) {
    const answer = await seats.post('/v1/packages', { ...body, ...changed })
    assertProblem(answer, 'signature_invalid', { reason: 'signature_mismatch' })
  }
})

const inProtected = (change: object) => (jwe: SealedPackage) => {
  const header = JSON.parse(Buffer.from(jwe.protected, 'base64url').toString()) as object
  return { ...jwe, protected: encodeBase64url(canonicalBytes({ ...header, ...change })) }
}

test('[PKG-02] the sealed content has exactly one form', async () => {
  type Recipient = SealedPackage['recipients'][number]
  const first = (change: (recipient: Recipient) => object) => (jwe: SealedPackage) => ({
    ...jwe,
    recipients: [change(jwe.recipients[0]), jwe.recipients[1]],
  })
  const inHeader = (change: object) =>
    first(({ header, ...rest }) => ({ ...rest, header: { ...header, ...change } }))
  const epk = (recipient: Recipient) => recipient.header.epk as Record<string, string>
  const faults: [string, (jwe: SealedPackage) => object][] = [
    ['sealed_members', ({ aad: _aad, ...jwe }) => jwe],
    ['sealed_members', (jwe) => ({ ...jwe, unprotected: {} })],
    ['sealed_aad', (jwe) => ({ ...jwe, aad: '' })],
    ['sealed_ciphertext', (jwe) => ({ ...jwe, ciphertext: '' })],
    ['sealed_iv', (jwe) => ({ ...jwe, iv: encodeBase64url(Buffer.alloc(16)) })],
    ['sealed_tag', (jwe) => ({ ...jwe, tag: encodeBase64url(Buffer.alloc(12)) })],
    [
      'sealed_encrypted_key',
      first((each) => ({ ...each, encrypted_key: encodeBase64url(Buffer.alloc(32)) })),
    ],
    ['sealed_recipient_count', (jwe) => ({ ...jwe, recipients: [jwe.recipients[0]] })],
    ['sealed_recipient_count', (jwe) => ({ ...jwe, recipients: [...jwe.recipients, jwe.recipients[0]] })],
    ['sealed_recipient_algorithm', inHeader({ alg: 'ECDH-ES' })],
    ['sealed_recipient_algorithm', inHeader({ alg: 'RSA-OAEP' })],
    ['sealed_recipient_members', inHeader({ apu: 'AAAA' })],
    ['sealed_recipient_key_id', inHeader({ kid: '' })],
    [
      'key_private_material',
      first((each) => ({ ...each, header: { ...each.header, epk: { ...epk(each), d: 'AA' } } })),
    ],
    [
      'key_not_on_curve',
      first((each) => ({ ...each, header: { ...each.header, epk: { ...epk(each), y: epk(each)['x'] } } })),
    ],
    ['sealed_encryption', inProtected({ enc: 'A128GCM' })],
    ['sealed_header_members', inProtected({ zip: 'DEF' })],
    ['sealed_type', inProtected({ typ: 'JWE' })],
    ['sealed_content_type', inProtected({ cty: 'text/plain' })],
    ['sealed_content_type', inProtected({ cty: 'application/svc.response-object+json' })],
    ['sealed_version', inProtected({ syv: 'svc/1.1' })],
  ]
  for (const [reason, reseal] of faults) {
    const draft = await draftPackage(seats, cars, { reseal })
    assertProblem(await submit(seats, draft), 'envelope_invalid', { reason })
  }
})

test('[PKG-01][O-35] content_type follows the rule of cty: one type, and in responses those of the profile', async () => {
  const failuresOf = (answer: Answer) => {
    assertProblem(answer, 'validation_failed')
    const { failures } = answer.body['details'] as { failures: Failure[] }
    return failures.map(({ pointer, rule }) => [pointer, rule])
  }
  const refused = [['/payload/metadata/content_type', 'O-35']]
  for (const content_type of ['text/plain', '', 'application/svc.response-object+json']) {
    const draft = await draftPackage(seats, cars, { metadata: { content_type } })
    assert.deepEqual(failuresOf(await submit(seats, draft)), refused, content_type)
  }
  const { metadata } = await sendPackage(seats, cars)
  const answering = { threadId: metadata.thread_id, respondsTo: metadata.package_id }
  const respond = async (content_type: string) =>
    submit(cars, await draftPackage(cars, seats, { ...answering, metadata: { content_type } }))
  assert.deepEqual(failuresOf(await respond('text/plain')), refused)
  for (const type of ['application/svc.response-object+json', 'application/svc.reasoning-package+json']) {
    assertSuccess(await respond(type), 'createPackageResponse')
  }
})

test('[PKG-01][O-14][O-29] lists that are too long inside an envelope are refused before its metadata and signature are checked', async () => {
  const { metadata, jwe } = await partsOf()
  const long = Array.from({ length: 1_001 }, () => 0)
  const unsigned = async (payload: object) => ({
    ...(await envelopeOf(HEADER, payload)),
    signature: 'A'.repeat(86),
  })
  const [recipient, other] = jwe.recipients
  const inKey = { ...recipient, header: { ...recipient.header, epk: { key_ops: long } } }
  const cases: [object, string][] = [
    [{ metadata: { ...metadata, skill_id: long, CANARY: 1 }, jwe }, '/payload/metadata/skill_id'],
    [{ metadata: { ...metadata, CANARY: { x: long } }, jwe }, '/payload/metadata'],
    // The schema of a key does not name its other members, so their names are not echoed.
    [{ metadata, jwe: { ...jwe, recipients: [inKey, other] } }, '/payload/jwe/recipients/0/header/epk'],
    [{ metadata, jwe: { ...jwe, recipients: long, CANARY: 1 } }, '/payload/jwe/recipients'],
    [{ metadata, CANARY: long }, '/payload'],
  ]
  for (const [payload, pointer] of cases) {
    const answer = await seats.post('/v1/packages', await unsigned(payload))
    assertProblem(answer, 'validation_failed')
    const { failures } = answer.body['details'] as { failures: Failure[] }
    assert.deepEqual(
      failures.map((failure) => [failure.rule, failure.pointer]),
      [['O-14', pointer]],
    )
    assert.doesNotMatch(answer.text, /CANARY/)
  }
})

test('[PKG-04][O-17] the digest is recomputed by each of the three rules, and evidence names the rule', async () => {
  const ruleOf = async (id: string) => {
    const evidence = await seats.get(`/v1/audit/packages/${id}`)
    const entries = evidence.body['entries'] as { proof: Record<string, unknown> }[]
    return entries.map(({ proof }) => proof['content_digest_rule']).find((rule) => rule !== undefined)
  }
  const canonical = await sendPackage(seats, cars)
  assert.equal(await ruleOf(canonical.metadata.package_id), 'jcs-jwe')

  const sealed = (await partsOf()).jwe
  const bytes = await sha256Digest(Buffer.from(sealed.ciphertext, 'base64url'))
  const draft = await sendPackage(seats, cars, { reseal: () => sealed, metadata: { content_digest: bytes } })
  assert.equal(await ruleOf(draft.metadata.package_id), 'ciphertext-bytes')

  const text = JSON.stringify(sealed, undefined, 1)
  const { metadata, receipt } = await partsOf({
    metadata: { content_digest: await sha256Digest(Buffer.from(text)) },
  })
  await seats.post('/v1/policy-receipts', receipt)
  const spaced = await envelopeOf(HEADER, `{"metadata":${JSON.stringify(metadata)},"jwe":${text}}`)
  assertSuccess(await seats.post('/v1/packages', spaced), 'createPackageTransfer')
  assert.equal(await ruleOf(metadata.package_id), 'jwe-text')

  const wrong = await draftPackage(seats, cars, { metadata: { content_digest: bytes } })
  assertProblem(await submit(seats, wrong), 'digest_mismatch', { member: 'content_digest' })
})

test('[PKG-04] of two concurrent packages with one id in different threads one is accepted', async () => {
  const metadata = { package_id: 'pkg_contended' }
  const drafts = [
    await draftPackage(seats, cars, { metadata }),
    await draftPackage(seats, cars, { metadata }),
  ]
  await using other = await startWorld({ beside: world })
  const pending: Promise<Answer>[] = []
  // Both find the id free and wait to write. Two processes, because in one they might share a batch.
  await world.sql.begin(async (tx) => {
    await tx`lock table package in share mode`
    for (const draft of drafts) {
      pending.push(submit(seats, draft, { at: pending.length === 0 ? world.url : other.url }))
      await untilBlocked(world, pending.length)
    }
  })
  const [won, lost] = (await Promise.all(pending)).toSorted((a, b) => a.status - b.status)
  assert.equal(won?.status, 202)
  assert.ok(lost)
  assertProblem(lost, 'identifier_conflict', {})
})

test('[PKG-04] a package id is unique across organizations, also for an organization that is not a party', async () => {
  const { metadata } = await sendPackage(seats, cars)
  const steel = await world.organization('steel')
  const taken = await draftPackage(steel, cars, { metadata: { package_id: metadata.package_id } })
  assertProblem(await submit(steel, taken), 'identifier_conflict', {})
})
