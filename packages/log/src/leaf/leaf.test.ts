import assert from 'node:assert/strict'
import { createHash, createHmac } from 'node:crypto'
import { test } from 'node:test'
import fc from 'fast-check'
import { keyCommitment, keyLabel, keyLeaf } from './key-leaf.ts'
import { encodeFields, LEAF_LENGTH } from './leaf-encoding.ts'
import { recordCommitment, recordLabel, recordLeaf } from './record-leaf.ts'
import { deriveSalt } from './salt.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const secret = new Uint8Array(32).fill(9)
const salt = deriveSalt(secret, 0)
const [r, s] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2)]
const digest = (byte: number) => `sha-256=:${Buffer.alloc(32, byte).toString('base64')}:`
const record = {
  packageId: 'pkg_1',
  contentDigest: digest(3),
  receiptSignature: Buffer.concat([r, s]).toString('base64url'),
  threadId: 'thread_1',
  firstPosition: 5,
  lastPosition: 6,
  previousHash: '04'.repeat(32),
  entryHashes: ['05'.repeat(32), '06'.repeat(32)],
}
const event = {
  organizationId: 'org_a',
  agentId: 'agent_a',
  number: 2,
  keyId: 'key_1',
  kind: 'revoked',
  use: 'signing',
  thumbprint: Buffer.alloc(32, 7).toString('base64url'),
  validFrom: '2026-01-01T00:00:00.000Z',
  recordedAt: '2026-02-01T00:00:00.000Z',
  invalidFrom: '2026-01-15T00:00:00.000Z',
}

/** The format once more, by hand: four bytes of length before each field. */
function written(...fields: (string | Buffer)[]): Buffer {
  return Buffer.concat(
    fields.flatMap((field) => {
      const bytes = Buffer.from(field as string)
      const length = Buffer.alloc(4)
      length.writeUInt32BE(bytes.length)
      return [length, bytes]
    }),
  )
}
const number = (value: number) => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64BE(BigInt(value))
  return bytes
}
const sha256 = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex')

test('leaves have the bytes that docs/transparency-format.md describes', () => {
  const tag = (name: string) => `agent-exchange/log/v1/${name}`
  const ownSalt = createHmac('sha256', secret)
    .update(written(tag('salt'), number(0)))
    .digest()
  assert.equal(hex(salt), ownSalt.toString('hex'))
  const label = sha256(written(tag('record-label'), 'pkg_1', Buffer.alloc(32, 3), r, number(5)))
  const commitment = sha256(
    written(
      tag('record-commitment'),
      ownSalt,
      'thread_1',
      number(5),
      number(6),
      Buffer.alloc(32, 4),
      Buffer.concat([Buffer.alloc(32, 5), Buffer.alloc(32, 6)]),
    ),
  )
  assert.equal(hex(recordLeaf(record, salt)), label + commitment)
  const ofKey = sha256(
    written(
      tag('key-commitment'),
      ownSalt,
      'org_a',
      'agent_a',
      number(2),
      'key_1',
      'revoked',
      'signing',
      Buffer.alloc(32, 7),
      event.validFrom,
      event.recordedAt,
      event.invalidFrom,
    ),
  )
  assert.equal(hex(keyLeaf(event, salt)), sha256(written(tag('key-label'), 'agent_a', number(2))) + ofKey)
  assert.equal(recordLeaf(record, salt).length, LEAF_LENGTH)
})

test('the same event in two histories has the same label, whatever the exchange says of it', () => {
  const rewritten = {
    ...record,
    threadId: 'thread_2',
    previousHash: null,
    lastPosition: 5,
    entryHashes: ['00'.repeat(32)],
  }
  assert.deepEqual(recordLabel(rewritten), recordLabel(record))
  assert.notDeepEqual(recordCommitment(rewritten, salt), recordCommitment(record, salt))
  const falseKey = { ...event, keyId: 'key_2', thumbprint: Buffer.alloc(32, 8).toString('base64url') }
  assert.deepEqual(keyLabel(falseKey), keyLabel(event))
  assert.notDeepEqual(keyCommitment(falseKey, salt), keyCommitment(event, salt))
})

test('the label takes r of the signature and not s, which has a second valid value', () => {
  const mirrored = Buffer.concat([r, Buffer.alloc(32, 99)])
  assert.deepEqual(
    recordLabel({ ...record, receiptSignature: mirrored.toString('base64url') }),
    recordLabel(record),
  )
  assert.deepEqual(
    recordLabel({ ...record, receiptSignature: Buffer.concat([r, s]).toString('base64') }),
    recordLabel(record),
  )
  const other = Buffer.concat([Buffer.alloc(32, 8), s]).toString('base64url')
  assert.notDeepEqual(recordLabel({ ...record, receiptSignature: other }), recordLabel(record))
})

test('equal inputs share no commitment: each leaf of each batch has a salt of its own', () => {
  const commitments = [0, 1, 2].flatMap((offset) =>
    [1, 2, 3].map((byte) => hex(recordCommitment(record, deriveSalt(new Uint8Array(32).fill(byte), offset)))),
  )
  assert.equal(new Set(commitments).size, 9)
})

test('every field counts, and fields cannot run into each other', () => {
  const leaf = hex(recordLeaf(record, salt))
  const others = [
    { packageId: 'pkg_2' },
    { contentDigest: digest(4) },
    { firstPosition: 4, entryHashes: ['04'.repeat(32), ...record.entryHashes] },
    { threadId: 'thread_2' },
    { lastPosition: 7, entryHashes: [...record.entryHashes, '07'.repeat(32)] },
    { previousHash: null },
    { previousHash: '05'.repeat(32) },
    { entryHashes: record.entryHashes.toReversed() },
  ]
  for (const other of others) assert.notEqual(hex(recordLeaf({ ...record, ...other }, salt)), leaf)
  for (const name of Object.keys(event) as (keyof typeof event)[]) {
    const other =
      name === 'number' ? 3 : name === 'thumbprint' ? Buffer.alloc(32, 8).toString('base64url') : 'x'
    assert.notDeepEqual(keyLeaf({ ...event, [name]: other }, salt), keyLeaf(event, salt), name)
  }
  fc.assert(
    fc.property(fc.array(fc.string()), fc.array(fc.string()), (left, right) => {
      const isSame = JSON.stringify(left) === JSON.stringify(right)
      return (hex(encodeFields('t', left)) === hex(encodeFields('t', right))) === isSame
    }),
  )
})

test('fields of another form are refused', () => {
  const wrong = [
    { contentDigest: 'sha-256=:AAAA:' },
    { receiptSignature: 'AAAA' },
    { firstPosition: 0 },
    { firstPosition: -1 },
    { firstPosition: 1.5 },
    { lastPosition: 7 },
    { previousHash: 'AB'.repeat(32) },
    { entryHashes: [] },
    { entryHashes: ['00', '11'] },
    { packageId: '\ud800' },
  ]
  for (const each of wrong)
    assert.throws(
      () => recordLeaf({ ...record, ...each }, salt),
      { code: 'leaf_field' },
      JSON.stringify(each),
    )
  for (const each of [{ number: 0 }, { thumbprint: 'AAAA' }, { thumbprint: '?' }])
    assert.throws(() => keyLeaf({ ...event, ...each }, salt), { code: 'leaf_field' }, JSON.stringify(each))
  assert.throws(() => recordLeaf(record, new Uint8Array(16)), { code: 'leaf_field' })
  assert.throws(() => deriveSalt(new Uint8Array(31), 0), { code: 'leaf_field' })
  assert.throws(() => deriveSalt(secret, -1), { code: 'leaf_field' })
})
