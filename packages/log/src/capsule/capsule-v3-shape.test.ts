import assert from 'node:assert/strict'
import { test } from 'node:test'
import { operationExamples } from '@agent-exchange/protocol'
import { CAPSULE_V3_FORMAT } from './capsule-v3-format.ts'
import { capsuleV3Faults } from './capsule-v3-shape.ts'
import { PACKAGE_HEAD_TYPE } from './package-head.ts'

const receipt = Object.values(operationExamples.createPolicyReceipt.requests ?? {})[0] as {
  signature: object
}
const manifest = operationExamples.createPackageTransfer.requests?.['ds_x'] as {
  metadata: object
  edc: object
  sender_signature: object
}
const { signature } = receipt
const hash = '0a'.repeat(32)
const entryOf = (position: number) => ({
  position,
  visibility: 'both',
  proof: { kind: 'package_accepted', recorded_at: '2026-03-01T00:00:00.000Z', states: ['accepted'] },
})
const hidden = { position: 2, kind: 'delivery_replayed', visibility: 'one', body_hash: hash }
const shownPackage = {
  metadata: manifest.metadata,
  policy_receipt: receipt,
  edc: manifest.edc,
  sender_signature: manifest.sender_signature,
  entries: [entryOf(1), hidden, entryOf(3)],
  records: [{ first_position: 1, last_position: 3, salt: 'AAAA', proof: 'c2sp.org/tlog-proof@v1' }],
  head: {
    type: PACKAGE_HEAD_TYPE,
    package_id: 'pkg_1',
    thread_id: 'thread_1',
    position: 3,
    link: hash,
    log: { origin: 'exchange.example', size: 7 },
    stated_at: '2026-03-01T00:00:00.000Z',
    signature,
  },
  disclosure: {
    envelope: '{}',
    content_key: 'AAAA',
    disclosed_by: { organization_id: 'org_a', agent_id: 'agent_a' },
    signature,
  },
}
const capsule = {
  format: CAPSULE_V3_FORMAT,
  thread_id: 'thread_1',
  packages: [shownPackage],
  keys: [
    {
      organization_id: 'org_a',
      agent_id: 'agent_a',
      key_id: 'key_1',
      public_key: { kty: 'EC', crv: 'P-256', x: 'AAAA', y: 'AAAA' },
    },
  ],
  log: { key: 'k', checkpoint: 'c', key_events: [], history: [{ checkpoint: 'c', consistency: [] }] },
}

const withPackage = (change: object) => ({ ...capsule, packages: [{ ...shownPackage, ...change }] })

test('[AUD-01] the schema of a capsule of format 3 is closed', () => {
  assert.deepEqual(capsuleV3Faults(capsule), [])
  const [key] = capsule.keys
  const { head, disclosure } = shownPackage
  const unknown: object[] = [
    { ...capsule, note: 1 },
    { ...capsule, unlinked_entries: [] },
    { ...capsule, keys: [{ ...key, status: 'active' }] },
    { ...capsule, keys: [{ ...key, public_key: { ...key?.public_key, alg: 'ES256' } }] },
    { ...capsule, log: { ...capsule.log, records: [] } },
    withPackage({ delivery_attempts: [] }),
    withPackage({ metadata: { ...shownPackage.metadata, valid_until: '2026-03-01T00:00:00.000Z' } }),
    withPackage({ entries: [{ ...entryOf(1), hash }] }),
    withPackage({ entries: [{ ...hidden, proof: {} }] }),
    withPackage({ head: { ...head, note: 1 } }),
    withPackage({ head: { ...head, log: { ...head.log, root: hash } } }),
    withPackage({ disclosure: { ...disclosure, plaintext: '' } }),
  ]
  for (const value of unknown) assert.notDeepEqual(capsuleV3Faults(value), [], JSON.stringify(value))
})

test('members of a capsule of format 3 have their form', () => {
  const { disclosure, head } = shownPackage
  const wrong: object[] = [
    withPackage({ entries: [{ ...entryOf(1), position: 0 }] }),
    withPackage({ entries: [{ ...entryOf(1), visibility: 'none' }] }),
    withPackage({ entries: [{ ...entryOf(1), proof: { kind: 'package_accepted' } }] }),
    withPackage({ entries: [{ ...hidden, visibility: 'both' }] }),
    withPackage({ entries: [{ ...hidden, body_hash: hash.toUpperCase() }] }),
    withPackage({ head: { ...head, link: 'AAAA' } }),
    withPackage({ disclosure: { ...disclosure, asset: '' } }),
    { ...capsule, format: 'aex-evidence/2' },
    { ...capsule, log: { ...capsule.log, key: undefined } },
  ]
  for (const value of wrong)
    assert.notDeepEqual(capsuleV3Faults(JSON.parse(JSON.stringify(value))), [], JSON.stringify(value))
})
