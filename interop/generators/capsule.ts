import { noteSigner, SIGNATURE_TYPE, type Capsule, type EvidenceBundle } from '@agent-exchange/log'
import { capsuleOf, logSigner, POLICY, startWorld, type LogPlan } from '@agent-exchange/testkit'
import { readEvidence } from '../../packages/sdk/src/evidence/read-evidence.ts'
import { relinked, wholeThread } from '../../packages/sdk/src/evidence/evidence.fixture.ts'
import { altered } from './log-checkpoints.ts'
import { flipped, type Generated, invalid, valid } from './vectors.ts'

/** The file whose changes the vectors describe. */
export const CAPSULE_FILE = 'capsules/thread.json'
const EARLIER_SIZE = 7
const WITNESSED: LogPlan = { cosigners: 2, earlierSize: EARLIER_SIZE }

export interface CapsuleStory {
  readonly evidence: EvidenceBundle
  readonly capsule: Capsule
}

/** A real exchange records a thread in which everything happened; a log with published keys holds its records. */
export async function collectCapsule(): Promise<CapsuleStory> {
  await using world = await startWorld({ evidenceVersion: 1 })
  const { bolt, threadId } = await wholeThread(world)
  const evidence = await readEvidence(bolt, { threadId })
  return { evidence, capsule: await capsuleOf(evidence, WITNESSED) }
}

type Edits = readonly (readonly [pointer: string, value: unknown])[]

const input = (set: Edits, policy: string | null = POLICY) => ({ capsule: CAPSULE_FILE, set, policy })

export async function capsules({ evidence, capsule }: CapsuleStory): Promise<Generated> {
  const { records, key_events: events, checkpoint } = capsule.log
  const logOf = async (plan: LogPlan) => (await capsuleOf(evidence, plan)).log
  const size = 2 * (records.length + events.length)
  const reached = (log: string) => ({ level: 'signed-only', log, origin: logSigner.key.name, size })
  const refused = (name: string, description: string, set: Edits, code: string) =>
    invalid(name, description, input(set), { rule: 'AUD-03', code })
  const stranger = await noteSigner(logSigner.key.name, SIGNATURE_TYPE.ed25519, new Uint8Array(32).fill(9))
  const foreign = await logOf({ signer: stranger, cosigners: 3 })
  const last = evidence.entries.length - 1
  const [record, nextRecord, event] = [records[0], records[1], events[0]]
  const revoked = evidence.keys.findIndex(({ events: own = [] }) =>
    own.some(({ kind }) => kind === 'revoked'),
  )
  const history = evidence.keys[revoked]?.events ?? []
  const rewritten = await relinked({
    ...evidence,
    entries: evidence.entries.map((entry, at) =>
      at === 0 ? { ...entry, proof: { ...entry.proof, recorded_at: '2020-01-01T00:00:00.000Z' } } : entry,
    ),
  })
  if (!record || !nextRecord || !event) throw new Error('the thread has too few records')
  const lines = checkpoint.trimEnd().split('\n')
  return {
    profile: 'capsule',
    description: 'Evidence of a thread with the proofs that a transparency log holds it, verified offline.',
    references: ['docs/transparency.md', 'C2SP tlog-policy'],
    vectors: [
      valid('witnessed', 'Two of three witnesses cosigned.', input([]), reached('witnessed')),
      valid('log-signed', 'Nobody cosigned.', input([['/log', await logOf({})]]), reached('log-signed')),
      valid(
        'one-witness',
        'One of the two witnesses that the policy demands cosigned.',
        input([['/log', await logOf({ cosigners: 1 })]]),
        reached('log-signed'),
      ),
      valid('no-policy', 'The verifier has no policy.', input([], null), reached('unpinned')),
      valid(
        'other-log',
        'A log with its own key under the same name, cosigned by all witnesses: never more than unpinned.',
        input([['/log', foreign]]),
        reached('unpinned'),
      ),
      valid(
        'record-without-proof',
        'A record has no proof: the exchange alone says that it exists.',
        input([[`/log/records/${records.length - 1}`, null]]),
        reached('signed-only'),
      ),
      valid(
        'key-without-proof',
        'No key event has a proof.',
        input([['/log/key_events', []]]),
        reached('signed-only'),
      ),
      valid(
        'used-after-revocation',
        'The log holds the revocation of a key before records that the key signed: only the exchange says that they came first.',
        input([['/log', await logOf({ ...WITNESSED, order: recordsLast })]]),
        reached('signed-only'),
      ),
      valid(
        'recorded-time-refuted',
        'Witnesses saw the log without some records two days after the exchange says that it recorded them.',
        input([['/log', await logOf({ ...WITNESSED, cosignedAt: twoDaysAfter(evidence) })]]),
        reached('signed-only'),
      ),
      refused(
        'entry-changed',
        'A time in an entry was changed.',
        [['/entries/0/proof/recorded_at', '2020-01-01T00:00:00.000Z']],
        'thread_hashes',
      ),
      refused(
        'chain-rewritten',
        'The same, and the whole chain was hashed and linked again.',
        [['/entries', rewritten.entries]],
        'record_leaf',
      ),
      refused(
        'entry-dropped',
        'The last entry is missing.',
        [[`/entries/${last}`, null]],
        'record_positions',
      ),
      refused(
        'salt-changed',
        'A bit of a salt was flipped.',
        [['/log/records/0/salt', flipped(record.salt)]],
        'record_leaf',
      ),
      refused(
        'proof-of-another-record',
        'The proof of the next record.',
        [['/log/records/0/proof', nextRecord.proof]],
        'record_leaf',
      ),
      refused(
        'record-too-short',
        'The record ends before its last entry.',
        [['/log/records/0/last_position', record.last_position - 1]],
        'record_leaf',
      ),
      refused(
        'records-reordered',
        'The log holds the second record before the first.',
        [['/log', await logOf({ ...WITNESSED, order: recordsSwapped })]],
        'record_order',
      ),
      refused(
        'signature-changed',
        'A bit of the signature of the log was flipped.',
        [['/log/checkpoint', checkpoint.replace(lines[4] ?? '', altered(lines[4] ?? ''))]],
        'log_checkpoint',
      ),
      refused(
        'cosignature-changed',
        'A bit of a cosignature was flipped.',
        [['/log/checkpoint', checkpoint.replace(lines[5] ?? '', altered(lines[5] ?? ''))]],
        'log_checkpoint',
      ),
      refused(
        'cosignature-removed',
        'The proofs lead to a checkpoint with other cosignatures.',
        [['/log/checkpoint', checkpoint.replace(`${lines[5]}\n`, '')]],
        'record_leaf',
      ),
      refused(
        'other-key',
        'The capsule claims another log key than the one that signed.',
        [['/log/key', foreign.key]],
        'log_checkpoint',
      ),
      refused(
        'history-of-another-tree',
        'The earlier checkpoint does not lead to this one.',
        [['/log/history/0/consistency/0', Buffer.alloc(32).toString('base64')]],
        'log_history',
      ),
      refused(
        'key-event-changed',
        'A key event has another time.',
        [['/log/key_events/0/recorded_at', '2020-01-01T00:00:00.000Z']],
        'key_event_leaf',
      ),
      refused(
        'key-event-twice',
        'Two key events with one number.',
        [['/log/key_events', [...events, event]]],
        'key_event_numbers',
      ),
      refused(
        'key-event-left-out',
        'A key event between two others is missing.',
        [['/log/key_events', events.filter(({ kind }) => kind !== 'retiring')]],
        'key_event_numbers',
      ),
      refused(
        'key-events-from-65',
        'The key events of every agent have numbers from 65 on.',
        [['/log', await logOf({ ...WITNESSED, skippedNumbers: 64 })]],
        'key_event_numbers',
      ),
      refused(
        'cosigned-after-9999',
        'The witnesses cosigned with a time beyond the year 9999.',
        [['/log', await logOf({ cosigners: 2, cosignedAt: Number.MAX_SAFE_INTEGER - 2 })]],
        'log_checkpoint',
      ),
      refused(
        'revocation-hidden',
        'The log holds a revocation that the evidence does not show.',
        [
          [`/keys/${revoked}/events`, history.filter(({ kind }) => kind !== 'revoked')],
          [`/keys/${revoked}/key/status`, 'retiring'],
          [`/keys/${revoked}/key/revoked_at`, null],
          [`/keys/${revoked}/key/invalid_from`, null],
        ],
        'key_history',
      ),
      refused(
        'key-backdated',
        'The keys entered the log after what they signed.',
        [['/log', await logOf({ ...WITNESSED, order: keysLast })]],
        'key_logged_before_use',
      ),
    ],
  }
}

const indexesOf = (kinds: readonly string[], isWanted: (kind: string) => boolean) =>
  kinds.flatMap((kind, at) => (isWanted(kind) ? [at] : []))

function recordsSwapped(kinds: readonly string[]): number[] {
  const all = kinds.map((_, at) => at)
  const [first = 0, second = 0] = indexesOf(kinds, (kind) => kind === 'record')
  return all.with(first, second).with(second, first)
}

function recordsLast(kinds: readonly string[]): number[] {
  return [...indexesOf(kinds, (kind) => kind !== 'record'), ...indexesOf(kinds, (kind) => kind === 'record')]
}

function twoDaysAfter({ entries }: EvidenceBundle): number {
  return Math.ceil(Date.parse(entries.at(-1)?.proof.recorded_at ?? '') / 1_000) + 172_800
}

function keysLast(kinds: readonly string[]): number[] {
  return [...indexesOf(kinds, (kind) => kind === 'record'), ...indexesOf(kinds, (kind) => kind !== 'record')]
}
