import type { ChainStory, ChangedCapsule } from './chain-story.ts'
import { changed, entryOf, packageOf, type MutableCapsule } from './change-capsule.ts'
import { altered } from './log-checkpoints.ts'
import { flipped } from './vectors.ts'

type Edit = readonly [
  name: string,
  description: string,
  change: (copy: MutableCapsule) => unknown,
  code: string,
]

const placeholder = (position: number, kind: string) =>
  ({ position, kind, visibility: 'one', body_hash: '00'.repeat(32) }) as const

const lineOf = (checkpoint: string, line: number) => checkpoint.split('\n')[line] ?? ''
const alterLine = (log: MutableCapsule['log'], line: number) => {
  const before = lineOf(log.checkpoint, line)
  log.checkpoint = log.checkpoint.replace(before, altered(before))
}

/** What somebody can do who passes a capsule on and holds no key. */
const EDITS: readonly Edit[] = [
  [
    'log-signature-changed',
    'A bit of the signature of the log was flipped.',
    ({ log }) => alterLine(log, 4),
    'log_checkpoint',
  ],
  [
    'log-key-changed',
    'The capsule names a log key that did not sign.',
    ({ log }) => (log.key = log.key.replace(/\+[0-9a-f]{8}\+/u, '+00000000+')),
    'log_checkpoint',
  ],
  [
    'history-changed',
    'The earlier checkpoint does not lead to this one.',
    ({ log }) => Object.assign(log.history?.[0] ?? {}, { consistency: [] }),
    'log_history',
  ],
  [
    'thread-renamed',
    'The capsule names another thread.',
    (c) => (c.thread_id = 'thread_x'),
    'package_thread',
  ],
  ['package-twice', 'A package is shown twice.', (c) => c.packages.push(packageOf(c, 0)), 'package_thread'],
  [
    'packages-reordered',
    'The first package is shown last.',
    (c) => c.packages.push(...c.packages.splice(0, 1)),
    'package_order',
  ],
  [
    'entry-cut-out',
    'An entry in the middle is missing.',
    (c) => packageOf(c, 0).entries.splice(4, 1),
    'chain_positions',
  ],
  [
    'entry-far-ahead',
    'An entry is at position 1,000, and those before it are missing.',
    (c) => packageOf(c, 0).entries.push({ ...structuredClone(entryOf(c, 0, 1)), position: 1_000 }),
    'chain_positions',
  ],
  [
    'placeholder-cut-out',
    'The placeholder of an entry is missing.',
    (c) => packageOf(c, 3).entries.splice(3, 1),
    'chain_positions',
  ],
  ['entries-removed', 'A package has no entries.', (c) => (packageOf(c, 0).entries = []), 'chain_positions'],
  [
    'revocation-cut-off',
    'The revocation at the end is missing; its record is still there.',
    (c) => packageOf(c, 2).entries.pop(),
    'record_positions',
  ],
  [
    'tail-cut-off',
    'The last entries and their records are missing; the statement about the end is still there.',
    (c) => {
      packageOf(c, 0).entries.splice(6)
      packageOf(c, 0).records.pop()
    },
    'head_link',
  ],
  [
    'receipt-hidden',
    'A receipt is hidden behind a placeholder.',
    (c) => packageOf(c, 0).entries.splice(4, 1, placeholder(5, 'receipt_received')),
    'chain_visibility',
  ],
  [
    'receipt-called-replay',
    'A receipt is hidden behind the placeholder of a replay.',
    (c) => packageOf(c, 0).entries.splice(4, 1, placeholder(5, 'delivery_replayed')),
    'record_leaf',
  ],
  [
    'text-not-unicode',
    'A text of an entry has a lone surrogate, so the entry has no RFC 8785 form.',
    (c) => (entryOf(c, 0, 4).proof['client_id'] = '\ud800'),
    'chain_body',
  ],
  [
    'expiry-changed',
    'The metadata have another expiry.',
    (c) => (packageOf(c, 0).metadata.expires_at = '2036-01-01T00:00:00Z'),
    'metadata_digest',
  ],
  [
    'content-type-changed',
    'The metadata have another content type.',
    (c) => (packageOf(c, 0).metadata.content_type = 'text/plain'),
    'metadata_digest',
  ],
  [
    'record-cut-out',
    'A record in the middle is missing.',
    (c) => packageOf(c, 0).records.splice(1, 1),
    'record_positions',
  ],
  [
    'recorded-time-changed',
    'An entry has another recorded time.',
    (c) => (entryOf(c, 0, 4).proof.recorded_at = '2020-01-01T00:00:00.000Z'),
    'record_leaf',
  ],
  [
    'salt-changed',
    'A bit of a salt was flipped.',
    (c) =>
      Object.assign(packageOf(c, 0).records[0] ?? {}, {
        salt: flipped(packageOf(c, 0).records[0]?.salt ?? ''),
      }),
    'record_leaf',
  ],
  [
    'proof-of-another-record',
    'The proof of the next record.',
    (c) => Object.assign(packageOf(c, 0).records[0] ?? {}, { proof: packageOf(c, 0).records[1]?.proof }),
    'record_leaf',
  ],
  [
    'head-of-another-package',
    'The statement about the end of another chain.',
    (c) => (packageOf(c, 0).head = packageOf(c, 1).head as never),
    'head_subject',
  ],
  [
    'head-later',
    'The statement about the end has a later time.',
    (c) => Object.assign(packageOf(c, 0).head ?? {}, { stated_at: '2036-01-01T00:00:00.000Z' }),
    'head_signature',
  ],
  [
    'head-by-an-agent',
    'The statement about the end names a key of an agent.',
    (c) =>
      Object.assign(packageOf(c, 0).head?.signature ?? {}, {
        key_id: packageOf(c, 0).policy_receipt.signature.key_id,
      }),
    'head_signature',
  ],
  [
    'key-event-changed',
    'A key event has another time.',
    ({ log }) => Object.assign(log.key_events[0] ?? {}, { recorded_at: '2020-01-01T00:00:00.000Z' }),
    'key_event_leaf',
  ],
  [
    'key-event-cut-out',
    'A key event between two others is missing.',
    ({ log }) => (log.key_events = log.key_events.filter(({ kind }) => kind !== 'retiring')),
    'key_event_numbers',
  ],
  [
    'key-event-twice',
    'A key event is shown twice.',
    ({ log }) => log.key_events.push(...log.key_events.slice(0, 1)),
    'key_event_numbers',
  ],
  [
    'key-exchanged',
    'A key id has the key of another agent.',
    ({ keys }) => Object.assign(keys[0] ?? {}, { public_key: keys[1]?.public_key }),
    'key_bound',
  ],
  [
    'key-of-another-organization',
    'A key is said to belong to another organization.',
    ({ keys }) => Object.assign(keys[0] ?? {}, { organization_id: 'org_x' }),
    'key_bound',
  ],
  [
    'registration-missing',
    'No key event of the agent of a key is shown.',
    (c) => (c.log.key_events = c.log.key_events.filter(({ agent_id }) => agent_id !== c.keys[0]?.agent_id)),
    'key_bound',
  ],
  [
    'member-of-metadata-added',
    'The metadata have a member that the format does not know.',
    (c) => Object.assign(packageOf(c, 0).metadata, { priority: 'high' }),
    'capsule_readable',
  ],
  [
    'delivery-attempts-added',
    'Delivery attempts, which nothing covers.',
    (c) => Object.assign(packageOf(c, 0), { delivery_attempts: [] }),
    'capsule_readable',
  ],
  [
    'unlinked-entries-added',
    'Entries outside of a chain, which nothing covers.',
    (c) => Object.assign(c, { unlinked_entries: [] }),
    'capsule_readable',
  ],
  [
    'key-status-added',
    'The status of a key, which nothing covers.',
    ({ keys }) => Object.assign(keys[0] ?? {}, { status: 'active' }),
    'capsule_readable',
  ],
  [
    'placeholder-for-both',
    'A placeholder of an entry that both parties may see.',
    (c) => Object.assign(packageOf(c, 3).entries[3] ?? {}, { visibility: 'both' }),
    'capsule_readable',
  ],
  [
    'receipt-without-signature',
    'A policy receipt without its signature.',
    (c) => Reflect.deleteProperty(packageOf(c, 0).policy_receipt, 'signature'),
    'capsule_readable',
  ],
]

export function editedCapsules({ capsule }: ChainStory): ChangedCapsule[] {
  return EDITS.map(([name, description, change, code]) => ({
    name,
    description,
    code,
    capsule: changed(capsule, change),
  }))
}
