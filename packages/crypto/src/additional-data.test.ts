import assert from 'node:assert/strict'
import { test } from 'node:test'
import { MEDIA_TYPE, PROTOCOL_VERSION, type PackageMetadata } from '@agent-exchange/protocol'
import {
  ADDITIONAL_DATA_FORMAT,
  boundDifferences,
  readAdditionalData,
  writeAdditionalData,
} from './additional-data.ts'
import { canonicalBytes } from './canonical-json.ts'

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

function read(aad: Uint8Array) {
  const data = readAdditionalData(aad)
  assert.ok(data)
  return data
}

test('[O-17] our additional data bind every member of the metadata but mode and digest', () => {
  const data = read(writeAdditionalData(METADATA))
  assert.deepEqual(boundDifferences(data, METADATA), [])
  for (const name of Object.keys(METADATA)) {
    const isBound = !['content_digest', 'transport_mode'].includes(name)
    assert.deepEqual(boundDifferences(data, { ...METADATA, [name]: 'other' }), isBound ? [name] : [])
  }
  const response = { ...METADATA, responds_to_package_id: 'pkg_0' }
  assert.deepEqual(boundDifferences(read(writeAdditionalData(response)), METADATA), [
    'responds_to_package_id',
  ])
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
  const tagged = (rest: object) => read(canonicalBytes({ format: ADDITIONAL_DATA_FORMAT, ...rest }))
  const later = tagged({ metadata: { package_id: 'pkg_1', priority: 'high' }, log: 'a note' })
  assert.deepEqual(boundDifferences(later, METADATA), [])
  assert.deepEqual(boundDifferences(tagged({ metadata: 'x' }), METADATA), ['metadata'])
})
