/** Runs every published vector against our packages. */

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CHECK_CODES, LOWERING_CODES } from '@agent-exchange/log'
import { checkVector } from './check-vector.ts'
import keyFile from './keys.json' with { type: 'json' }
import { PROFILES, type ProfileName } from './profiles/index.ts'
import { KEY, privateKey, publicKey } from './test-keys.ts'
import { readFolder, type VectorFile } from './vector-file.ts'

const files = readFolder<VectorFile>('.')

const TITLES: readonly (readonly [title: string, profile: ProfileName])[] = [
  ['RFC 8785: canonical JSON, and the JSON that has no canonical form', 'canonical-json'],
  ['[PKG-01] base64url has one form', 'base64url'],
  ['RFC 9530: digests in members of the protocol', 'digest'],
  ['[EVT-05] the Content-Digest field', 'content-digest-field'],
  ['[ID-06] public keys: P-256, on the curve, nothing private', 'public-jwk'],
  ['RFC 7518: ES256 signatures', 'es256'],
  ['[POL-01][POL-02] policy receipts', 'policy-receipt'],
  ['[PKG-03] ds_x control manifests', 'dsx-manifest'],
  ['[PKG-08] package receipts, bound and plain', 'package-receipt'],
  ['[PKG-10] package revocations, bound and plain', 'package-revocation'],
  ['[ID-10] skill releases', 'skill-release'],
  ['[AUD-03] statements about the end of a chain', 'package-head'],
  ['[PKG-01] exchange envelopes', 'exchange-envelope'],
  ['[PKG-02] sealed packages, opened by either party', 'sealed-package'],
  ['content_digest by each of its three rules', 'content-digest'],
  ['[O-17] commitments to content keys', 'key-commitment'],
  ['[EVT-05][EVT-14] signed webhooks, and each reason to refuse one', 'webhook-signature'],
  ['[AUD-03] leaves of audit records', 'log-record-leaf'],
  ['[AUD-03] chains of packages', 'log-package-chain'],
  ['[AUD-03] leaves of records of version 2', 'log-chain-record-leaf'],
  ['[AUD-03] leaves of key events', 'log-key-leaf'],
  ['[AUD-03] leaves of new origins', 'log-origin-leaf'],
  ['C2SP tlog-checkpoint: signed and cosigned checkpoints', 'log-checkpoint'],
  ['C2SP tlog-proof: inclusion proofs', 'log-inclusion'],
  ['RFC 9162: consistency proofs', 'log-consistency'],
  ['[AUD-03] capsules, valid and altered', 'capsule'],
  ['[AUD-03] capsules of format 3, true and false, each with the check that fails', 'chain-capsule'],
]

for (const [title, profile] of TITLES) {
  test(title, async (t) => {
    const file = files.get(profile)
    assert.ok(file, `vectors/${profile}.json is missing`)
    assert.equal(file.profile, profile)
    for (const vector of file.vectors) {
      await t.test(`${profile}/${vector.name}`, () => checkVector(profile, vector))
    }
  })
}

test('every profile has a file, a title, and valid and invalid vectors with unique names', () => {
  const profiles = Object.keys(PROFILES).toSorted()
  assert.deepEqual([...files.keys()].toSorted(), profiles)
  assert.deepEqual(TITLES.map(([, profile]) => profile).toSorted(), profiles)
  for (const [profile, { vectors }] of files) {
    const names = vectors.map(({ name }) => name)
    assert.equal(new Set(names).size, names.length, profile)
    assert.deepEqual(new Set(vectors.map(({ expect }) => expect)), new Set(['valid', 'invalid']), profile)
  }
})

/** Nothing contradicts these: the capsule is at a lower level, or says what it does not prove. */
const NEVER_FAILS = new Set<string>(
  [...LOWERING_CODES, 'log_pinned', 'log_quorum', 'later_key_events', 'later_events', 'recorded_order']
    .concat('earlier_checkpoint', 'revocation_time', 'statement_times', 'truth')
    .filter((code) => code !== 'recorded_time'),
)
/** Checks of formats 1 and 2, of what a verifier has from elsewhere, and those that another check comes before. */
const NOT_OF_THE_FORMAT =
  /^(?:thread_|unlinked_|record_package$|entry_package$|policy_evaluated$|key_(?:usable|trusted|record|history|revocations)$)/u

test('[AUD-03] every check of the structure of a capsule of format 3 has a false capsule that fails it', () => {
  const { vectors = [] } = files.get('chain-capsule') ?? {}
  const failing = new Set(vectors.flatMap((each) => (each.expect === 'invalid' ? [each.code] : [])))
  const untested = CHECK_CODES.filter(
    (code) => !failing.has(code) && !NEVER_FAILS.has(code) && !NOT_OF_THE_FORMAT.test(code),
  )
  assert.deepEqual(untested, [])
})

test('a wrong vector is detected', async () => {
  const vectors = files.get('base64url')?.vectors ?? []
  const right = vectors.find(({ expect }) => expect === 'valid')
  const wrong = vectors.find(({ expect }) => expect === 'invalid')
  assert.ok(right?.expect === 'valid' && wrong?.expect === 'invalid')
  await assert.rejects(checkVector('base64url', { ...right, output: { hex: '00' } }))
  await assert.rejects(checkVector('base64url', { ...right, expect: 'invalid', rule: '', code: '' }))
  await assert.rejects(checkVector('base64url', { ...wrong, code: 'json_syntax' }))
  await assert.rejects(checkVector('base64url', { ...wrong, expect: 'valid', output: {} }))
})

test('the test keys are valid pairs, each has a name, and the file contains a warning', async () => {
  const ids = keyFile.keys.map(({ key_id }) => key_id)
  assert.deepEqual(ids.toSorted(), Object.values(KEY).toSorted())
  for (const { key_id, use } of keyFile.keys) {
    const pair = { private: await privateKey(key_id), public: await publicKey(key_id) }
    assert.equal(pair.private.use, use)
    assert.deepEqual(pair.private.publicJwk, pair.public.jwk)
  }
  assert.match(keyFile.warning, /^TEST KEYS\. .*Never/u)
})
