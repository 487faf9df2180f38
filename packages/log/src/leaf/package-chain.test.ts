import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { test } from 'node:test'
import { chainRecordCommitment, chainRecordLabel, chainRecordLeaf } from './chain-record-leaf.ts'
import { ONE_SIDED_KINDS, visibilityOf } from './one-sided-kinds.ts'
import { bodyHash, chainStart, entryBody, nextLink } from './package-chain.ts'
import { recordLabel } from './record-leaf.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')
const [r, s, salt] = [Buffer.alloc(32, 1), Buffer.alloc(32, 2), Buffer.alloc(32, 9)]
const subject = {
  packageId: 'pkg_1',
  threadId: 'thread_1',
  contentDigest: `sha-256=:${Buffer.alloc(32, 3).toString('base64')}:`,
  receiptSignature: Buffer.concat([r, s]).toString('base64url'),
}
const entry = { position: 1, kind: 'package_accepted', visibility: 'both' as const, bodyHash: bodyHash('{}') }
const record = { ...subject, firstPosition: 2, lastPosition: 4, linkBefore: r, lastLink: s }

/** The encoding once more, by hand: a length of four bytes before each field, numbers in eight bytes. */
function hashed(...fields: (string | number | Buffer)[]): string {
  const parts = fields.flatMap((field) => {
    const bytes = typeof field === 'number' ? Buffer.alloc(8) : Buffer.from(field as string)
    if (typeof field === 'number') bytes.writeBigUInt64BE(BigInt(field))
    const length = Buffer.alloc(4)
    length.writeUInt32BE(bytes.length)
    return [length, bytes]
  })
  return createHash('sha256').update(Buffer.concat(parts)).digest('hex')
}
const tag = (name: string) => `agent-exchange/log/v2/${name}`

test('[AUD-03] the chain of a package and its leaves have the bytes that docs/transparency-format.md describes', () => {
  const start = hashed(tag('chain-start'), 'pkg_1', 'thread_1', Buffer.alloc(32, 3), r)
  assert.equal(hex(chainStart(subject)), start)
  const body = entryBody({ proof: { kind: 'a', b: 1 }, event: { z: 1, a: 2 } })
  assert.equal(body, '{"event":{"a":2,"z":1},"proof":{"b":1,"kind":"a"}}')
  assert.equal(hex(bodyHash(body)), createHash('sha256').update(body).digest('hex'))
  assert.equal(entryBody({ event: undefined, proof: { kind: 'a' } }), '{"proof":{"kind":"a"}}')
  assert.equal(
    hex(nextLink(Buffer.from(start, 'hex'), entry)),
    hashed(
      tag('link'),
      Buffer.from(start, 'hex'),
      1,
      'package_accepted',
      'both',
      Buffer.from(entry.bodyHash),
    ),
  )
  const label = hashed(tag('record-label'), 'pkg_1', Buffer.alloc(32, 3), r, 2)
  const commitment = hashed(tag('record-commitment'), salt, 2, 4, r, s)
  assert.equal(hex(chainRecordLeaf(record, salt)), label + commitment)
})

test('every part of an entry and all links before it decide a link', () => {
  const link = hex(nextLink(r, entry))
  for (const other of [{ position: 2 }, { kind: 'x' }, { visibility: 'one' as const }, { bodyHash: r }])
    assert.notEqual(hex(nextLink(r, { ...entry, ...other })), link)
  assert.notEqual(hex(nextLink(s, entry)), link)
  const start = hex(chainStart(subject))
  assert.notEqual(hex(chainStart({ ...subject, threadId: 'thread_2' })), start)
  assert.notEqual(hex(chainStart({ ...subject, packageId: 'pkg_2' })), start)
})

test('two histories of one position share their label, and versions never do', () => {
  const other = { ...record, lastPosition: 9, linkBefore: s, lastLink: r }
  assert.deepEqual(chainRecordLabel(other), chainRecordLabel(record))
  assert.notDeepEqual(chainRecordCommitment(other, salt), chainRecordCommitment(record, salt))
  assert.notDeepEqual(chainRecordLabel(record), recordLabel(record))
})

test('only replays may be seen by one organization', () => {
  assert.deepEqual([...ONE_SIDED_KINDS], ['delivery_replayed'])
  assert.equal(visibilityOf('delivery_replayed'), 'one')
  for (const kind of ['package_revoked', 'receipt_opened', 'package_accepted'])
    assert.equal(visibilityOf(kind), 'both')
})

test('fields of another form are refused', () => {
  const refused = { code: 'leaf_field' }
  for (const change of [
    { position: 0 },
    { position: 1.5 },
    { bodyHash: new Uint8Array(31) },
    { kind: '\ud800' },
  ])
    assert.throws(() => nextLink(r, { ...entry, ...change }), refused)
  assert.throws(() => nextLink(new Uint8Array(31), entry), refused)
  for (const change of [{ firstPosition: 0 }, { lastPosition: 1 }, { linkBefore: new Uint8Array() }])
    assert.throws(() => chainRecordLeaf({ ...record, ...change }, salt), refused)
  assert.throws(() => chainRecordLeaf(record, new Uint8Array(16)), refused)
  assert.throws(() => chainStart({ ...subject, receiptSignature: 'AAAA' }), refused)
})
