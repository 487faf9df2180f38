import { createHash } from 'node:crypto'
import { logChainRecordLeaf, logPackageChain } from '../profiles/transparency-log.ts'
import { base64url, type Generated, invalid, valid } from './vectors.ts'

const hash = (text: string) => createHash('sha256').update(text).digest()
const hex = (text: string) => hash(text).toString('hex')
const [r, s, otherS] = [hash('r'), hash('s'), hash('other s')]
const FIELD = { rule: 'O-07', code: 'leaf_field' }
const REFERENCES = ['docs/transparency-format.md', 'RFC 8785', 'RFC 6962 section 2.1']

const identity = {
  package_id: 'pkg_example',
  content_digest: `sha-256=:${hash('content').toString('base64')}:`,
  receipt_signature: base64url(Buffer.concat([r, s])),
}

const accepted = {
  kind: 'package_accepted',
  visibility: 'both',
  body: {
    event: { object_type: 'audit_event', id: 'audit_example' },
    proof: { recorded_at: '2026-03-01T00:00:00.000Z', kind: 'package_accepted', states: ['accepted'] },
  },
}
const replayed = { kind: 'delivery_replayed', visibility: 'one', body_hash: hex('hidden body') }
const opened = {
  kind: 'receipt_opened',
  visibility: 'both',
  body: { proof: { kind: 'receipt_opened', recorded_at: '2026-03-01T00:01:00.000Z', note: 'é😀' } },
}
const chain = { ...identity, thread_id: 'thread_example', entries: [accepted, replayed, opened] }

const chainVector = async (name: string, description: string, change: object = {}) => {
  const input = { ...chain, ...change }
  return valid(name, description, input, await logPackageChain(input))
}

const refusedChain = (name: string, description: string, change: object) =>
  invalid(name, description, { ...chain, ...change }, FIELD)

export async function packageChains(): Promise<Generated> {
  return {
    profile: 'log-package-chain',
    description: 'The chain of one package: its start, and for each entry the hash of its body and its link.',
    references: REFERENCES,
    vectors: [
      await chainVector('three-entries', 'Two entries with their bodies and, between them, a placeholder.'),
      await chainVector('empty', 'A chain without entries: its start.', { entries: [] }),
      await chainVector('other-thread', 'Another thread: every link differs.', { thread_id: 'thread_other' }),
      await chainVector('other-half', 'Another s with the same r: the same chain.', {
        receipt_signature: base64url(Buffer.concat([r, otherS])),
      }),
      await chainVector('other-visibility', 'The visibility is part of the link.', {
        entries: [accepted, { ...replayed, visibility: 'both' }],
      }),
      await chainVector('member-order', 'A body is hashed in RFC 8785 form: members in another order.', {
        entries: [
          {
            ...accepted,
            body: {
              proof: {
                states: ['accepted'],
                kind: 'package_accepted',
                recorded_at: '2026-03-01T00:00:00.000Z',
              },
              event: { id: 'audit_example', object_type: 'audit_event' },
            },
          },
        ],
      }),
      refusedChain('short-signature', 'The signature is not 64 bytes.', { receipt_signature: base64url(r) }),
      refusedChain('short-digest', 'The digest is not 32 bytes.', { content_digest: 'sha-256=:AAAA:' }),
      refusedChain('short-body-hash', 'The hash of a body has 32 bytes.', {
        entries: [{ ...replayed, body_hash: '00' }],
      }),
    ],
  }
}

const record = {
  batch_secret: base64url(hash('batch secret')),
  offset: 0,
  ...identity,
  first_position: 3,
  last_position: 5,
  link_before: hex('link 2'),
  last_link: hex('link 5'),
}

const recordVector = async (name: string, description: string, change: object = {}) => {
  const input = { ...record, ...change }
  return valid(name, description, input, await logChainRecordLeaf(input))
}

const refusedRecord = (name: string, description: string, change: object) =>
  invalid(name, description, { ...record, ...change }, FIELD)

export async function chainRecordLeaves(): Promise<Generated> {
  return {
    profile: 'log-chain-record-leaf',
    description: 'The leaf of an audit record of version 2: its salt, label, commitment and leaf hash.',
    references: [...REFERENCES, 'RFC 2104'],
    vectors: [
      await recordVector('three-entries', 'A record of three entries of a package.'),
      await recordVector('one-entry', 'A record of one entry.', { last_position: 3 }),
      await recordVector('other-chain', 'Another history of the same position: the same label.', {
        last_link: hex('other link 5'),
      }),
      await recordVector('large-position', 'The largest position.', {
        first_position: Number.MAX_SAFE_INTEGER - 1,
        last_position: Number.MAX_SAFE_INTEGER,
      }),
      refusedRecord('position-zero', 'Positions start at 1.', { first_position: 0 }),
      refusedRecord('backwards', 'The last position is before the first.', { last_position: 2 }),
      refusedRecord('short-link', 'A link has 32 bytes.', { last_link: '00' }),
      refusedRecord('short-secret', 'The secret of a batch has 32 bytes.', { batch_secret: 'AAAA' }),
    ],
  }
}
