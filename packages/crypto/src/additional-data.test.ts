import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MEDIA_TYPE, PROTOCOL_VERSION, type PackageMetadata } from '@agent-exchange/protocol'
import {
  ADDITIONAL_DATA_FORMAT,
  checkAdditionalData,
  readAdditionalData,
  writeAdditionalData,
} from './additional-data.ts'
import { canonicalBytes } from './canonical-json.ts'
import { contentKeyCommitment } from './content-key.ts'

const METADATA: PackageMetadata = {
  package_id: 'pkg_1',
  thread_id: 'thread_1',
  sender_org_id: 'org_a',
  sender_agent_id: 'agent_a',
  recipient_org_id: 'org_b',
  recipient_agent_id: 'agent_b',
  protocol_version: PROTOCOL_VERSION,
  schema_version: '1.0.0',
  skill_id: 'skill_1',
  skill_version: '1.0.0',
  created_at: '2026-03-01T09:00:00Z',
  expires_at: '2026-03-02T09:00:00Z',
  content_type: MEDIA_TYPE.reasoningPackage,
  content_digest: 'sha-256=:47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=:',
  transport_mode: 'native',
  policy_receipt_id: 'receipt_1',
}

const contentKey = new Uint8Array(32).fill(7)
const differing = (aad: Uint8Array, metadata = METADATA) =>
  checkAdditionalData({ aad, contentKey }, metadata).differingMetadata

test('[O-17] our additional data bind every member of the metadata but mode and digest', () => {
  const aad = writeAdditionalData(METADATA)
  assert.deepEqual(differing(aad), [])
  for (const name of Object.keys(METADATA)) {
    const isBound = !['content_digest', 'transport_mode'].includes(name)
    assert.deepEqual(differing(aad, { ...METADATA, [name]: 'other' }), isBound ? [name] : [])
  }
  const response = { ...METADATA, responds_to_package_id: 'pkg_0' }
  assert.deepEqual(differing(writeAdditionalData(response)), ['responds_to_package_id'])
})

test('[O-17] additional data without our tag are opaque, also where they look like metadata', () => {
  const foreign = [
    'svc/1.0',
    '[1]',
    '{"package_id":"pkg_other"}',
    '{"format":"aex-aad/2"}',
    '{"format":1}',
    '"',
  ]
  for (const text of foreign) assert.equal(readAdditionalData(new TextEncoder().encode(text)), undefined)
  assert.equal(readAdditionalData(new Uint8Array([0xff, 0x00])), undefined)
})

test('[O-17] members that a reader does not know are ignored, metadata that are none are not', () => {
  const tagged = (rest: object) => canonicalBytes({ format: ADDITIONAL_DATA_FORMAT, ...rest })
  const later = tagged({ metadata: { package_id: 'pkg_1', priority: 'high' }, log: 'a note' })
  assert.deepEqual(differing(later), [])
  assert.deepEqual(differing(tagged({ metadata: 'x' })), ['metadata'])
})

test('[O-17] a commitment fits one content key, and data without one commit to none', () => {
  const commitmentIn = (aad: Uint8Array) => checkAdditionalData({ aad, contentKey }, METADATA).keyCommitment
  const committedTo = (key: Uint8Array) =>
    writeAdditionalData(METADATA, { keyCommitment: contentKeyCommitment(key) })
  assert.equal(commitmentIn(committedTo(contentKey)), 'fits')
  assert.equal(commitmentIn(committedTo(new Uint8Array(32))), 'differs')
  assert.equal(commitmentIn(writeAdditionalData(METADATA, { keyCommitment: '' })), 'differs')
  assert.equal(commitmentIn(writeAdditionalData(METADATA)), 'none')
  assert.equal(commitmentIn(new TextEncoder().encode('of another implementation')), 'none')
})
