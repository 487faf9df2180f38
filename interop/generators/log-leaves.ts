import { createHash } from 'node:crypto'
import { logKeyLeaf, logOriginLeaf, logRecordLeaf } from '../profiles/transparency-log.ts'
import { base64url, type Generated, invalid, valid } from './vectors.ts'

const hash = (text: string) => createHash('sha256').update(text).digest()
const hex = (text: string) => hash(text).toString('hex')
const [r, s, otherS] = [hash('r'), hash('s'), hash('other s')]
const FIELD = { rule: 'O-07', code: 'leaf_field' }
const REFERENCES = ['docs/transparency-format.md', 'RFC 6962 section 2.1', 'RFC 2104']

const batch = { batch_secret: base64url(hash('batch secret')), offset: 0 }
const record = {
  ...batch,
  package_id: 'pkg_example',
  content_digest: `sha-256=:${hash('content').toString('base64')}:`,
  receipt_signature: base64url(Buffer.concat([r, s])),
  thread_id: 'thread_example',
  first_position: 5,
  last_position: 6,
  previous_hash: hex('entry 4'),
  entry_hashes: [hex('entry 5'), hex('entry 6')],
}

async function recordVector(name: string, description: string, change: object = {}) {
  const input = { ...record, ...change }
  return valid(name, description, input, await logRecordLeaf(input))
}

const refusedRecord = (name: string, description: string, change: object) =>
  invalid(name, description, { ...record, ...change }, FIELD)

export async function recordLeaves(): Promise<Generated> {
  const first = { first_position: 1, last_position: 1, previous_hash: null, entry_hashes: [hex('entry 1')] }
  const twin = Buffer.concat([r, otherS])
  return {
    profile: 'log-record-leaf',
    description: 'The leaf of an audit record: its salt, label, commitment and leaf hash.',
    references: REFERENCES,
    vectors: [
      await recordVector('two-entries', 'A record of two entries.'),
      await recordVector('first-of-thread', 'No entry is before it: the previous hash is absent.', first),
      await recordVector(
        'other-offset',
        'Another place in the batch: another salt and commitment, same label.',
        {
          offset: 4_294_967_296,
        },
      ),
      await recordVector('other-half', 'Another s with the same r: the same leaf.', {
        receipt_signature: base64url(twin),
      }),
      await recordVector('base64', 'The signature in base64 with padding: the same leaf.', {
        receipt_signature: Buffer.concat([r, s]).toString('base64'),
      }),
      await recordVector('large-position', 'The largest position.', {
        first_position: Number.MAX_SAFE_INTEGER - 1,
        last_position: Number.MAX_SAFE_INTEGER,
      }),
      await recordVector('not-ascii', 'Text is UTF-8 and is not normalized.', {
        thread_id: 'thread_e\u0301\u00e9😀',
      }),
      refusedRecord('hash-missing', 'One hash for two positions.', { entry_hashes: [hex('entry 5')] }),
      refusedRecord('position-zero', 'Positions start at 1.', { first_position: 0, last_position: 1 }),
      refusedRecord('upper-case-hash', 'Hashes are lower-case hexadecimal.', {
        previous_hash: hex('entry 4').toUpperCase(),
      }),
      refusedRecord('short-signature', 'The signature is not 64 bytes.', { receipt_signature: base64url(r) }),
      refusedRecord('short-digest', 'The digest is not 32 bytes.', { content_digest: 'sha-256=:AAAA:' }),
      refusedRecord('short-secret', 'The secret of a batch has 32 bytes.', { batch_secret: 'AAAA' }),
      refusedRecord('negative-offset', 'Offsets start at 0.', { offset: -1 }),
    ],
  }
}

const event = {
  ...batch,
  organization_id: 'org_example',
  agent_id: 'agent_example',
  number: 3,
  key_id: 'key_example',
  kind: 'revoked',
  use: 'signing',
  thumbprint: base64url(hash('thumbprint')),
  valid_from: '2026-01-01T00:00:00Z',
  recorded_at: '2026-03-01T00:00:00.000Z',
  invalid_from: '2026-02-01T00:00:00Z',
}

const keyVector = async (name: string, description: string, input: object = event) =>
  valid(name, description, input, await logKeyLeaf(input))

const refusedKey = (name: string, description: string, change: object) =>
  invalid(name, description, { ...event, ...change }, FIELD)

export async function keyLeaves(): Promise<Generated> {
  const { invalid_from: _, ...registered } = { ...event, number: 1, kind: 'registered' }
  return {
    profile: 'log-key-leaf',
    description: 'The leaf of a key event: its salt, label, commitment and leaf hash.',
    references: [...REFERENCES, 'RFC 7638'],
    vectors: [
      await keyVector('revoked', 'A revocation.'),
      await keyVector('registered', 'A registration: no time from which the key is invalid.', registered),
      await keyVector('other-key', 'Another key under the same number: same label, another commitment.', {
        ...event,
        key_id: 'key_other',
        thumbprint: base64url(hash('other thumbprint')),
      }),
      refusedKey('number-zero', 'Numbers start at 1.', { number: 0 }),
      refusedKey('short-thumbprint', 'The thumbprint is not 32 bytes.', { thumbprint: 'AAAA' }),
      refusedKey('not-base64url', 'The thumbprint is not base64url.', { thumbprint: '?' }),
      refusedKey('short-secret', 'The secret of a batch has 32 bytes.', { batch_secret: 'AAAA' }),
    ],
  }
}

const newOrigin = {
  origin: 'exchange.example/2',
  previous_origin: 'exchange.example',
  previous_size: 1_234,
  previous_root: base64url(hash('root')),
}

const originVector = async (name: string, description: string, change: object = {}) => {
  const input = { ...newOrigin, ...change }
  return valid(name, description, input, await logOriginLeaf(input))
}

const refusedOrigin = (name: string, description: string, change: object) =>
  invalid(name, description, { ...newOrigin, ...change }, FIELD)

export async function originLeaves(): Promise<Generated> {
  return {
    profile: 'log-origin-leaf',
    description:
      'The leaf with which a log under a new origin commits to the last checkpoint of the old one.',
    references: REFERENCES.slice(0, 2),
    vectors: [
      await originVector('new-origin', 'A new name for the log.'),
      await originVector(
        'lost-tail',
        'The same name and another checkpoint: same label, another commitment.',
        {
          previous_size: 1_200,
          previous_root: base64url(hash('older root')),
        },
      ),
      refusedOrigin('negative-size', 'A size is not negative.', { previous_size: -1 }),
      refusedOrigin('short-root', 'The root is not 32 bytes.', { previous_root: 'AAAA' }),
    ],
  }
}
