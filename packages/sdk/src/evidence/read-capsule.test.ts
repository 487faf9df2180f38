import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import {
  capsuleV3Faults,
  isHidden,
  parsePolicy,
  verdictSentence,
  verifyCapsule,
  verifyChains,
  type CapsulePackage,
  type CapsuleV3,
  type Check,
} from '@agent-exchange/log'
import { QUICK_LOG, startWorld } from '@agent-exchange/testkit'
import type { TestAgent } from '../agents.fixture.ts'
import { wholeThread } from './evidence.fixture.ts'
import { inputFor } from '../send/drafts.fixture.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { openPackage } from '../open/open-package.ts'
import { sendPackage } from '../send/send-package.ts'
import { readCapsule } from './read-capsule.ts'
import { readEarlierCapsule } from './read-earlier-capsule.ts'
import { replayDelivery } from './replayed-delivery.fixture.ts'

const world = await startWorld({ profile: QUICK_LOG, config: { role: 'all' } })
after(() => world[Symbol.asyncDispose]())
const { acme, bolt, threadId, first, answer, revoked } = await wholeThread(world)

/** A fourth package of the thread, whose delivery to the recipient was replayed before it was opened. */
const replayed = await replayDelivery(world, acme, async () => {
  const input = inputFor(bolt, acme, { thread_id: threadId })
  return (await sendPackage(bolt, input, { outbox: createMemoryOutbox() })).packageId
})
await openPackage(acme, replayed)

async function capsuleFor(agent: TestAgent): Promise<CapsuleV3> {
  const { capsule, pending, earlierPackages } = await readCapsule(agent, { threadId })
  assert.deepEqual([pending, earlierPackages], [[], 0])
  assert.ok(capsule.format === 'aex-evidence/3')
  return capsule
}
const capsule = await capsuleFor(bolt)

const summary = (checks: readonly Check[]) =>
  checks
    .filter(({ code, result }) => result !== 'holds' && code !== 'log_pinned')
    .map(
      ({ code, result, position }) => `${code} ${result}${position === undefined ? '' : ` at ${position}`}`,
    )

test('[AUD-01][AUD-03] either party collects the chains of all packages, and their structure verifies', async () => {
  for (const agent of [acme, bolt]) {
    const collected = await capsuleFor(agent)
    assert.deepEqual(capsuleV3Faults(JSON.parse(JSON.stringify(collected))), [])
    const { checks, leaves, keys } = await verifyChains(collected)
    assert.deepEqual(summary(checks), [])
    assert.deepEqual(
      collected.packages.map(({ metadata }) => metadata.package_id),
      [first, answer, revoked, replayed],
    )
    for (const { metadata, entries, head } of collected.packages) {
      assert.equal(head?.position, entries.length)
      assert.equal(leaves.get(metadata.package_id)?.size, entries.length)
    }
    assert.ok(keys.some(({ key }) => key.agent_id === 'agent_platform'))
    const hidden = collected.packages.flatMap(({ entries }) => entries.filter(isHidden))
    assert.deepEqual(
      hidden.map(({ kind, position }) => [kind, position]),
      agent === bolt ? [['delivery_replayed', 4]] : [],
    )
  }
})

test('[AUD-01] a capsule of format 3 verifies at the level of its log, and says up to when it is complete', async () => {
  const policy = parsePolicy(`log ${capsule.log.key}\nquorum none\n`)
  for (const agent of [acme, bolt]) {
    const result = await verifyCapsule(JSON.parse(JSON.stringify(await capsuleFor(agent))), { policy })
    assert.deepEqual(result.contradictions, [])
    assert.deepEqual([result.outcome, result.level, result.version], ['meets', 'log-signed', 3])
    assert.match(
      verdictSentence(result),
      /Complete for these packages up to \d+ \w+ \d{4}, .*, by the exchange's signed statement/u,
    )
    assert.deepEqual(
      result.states.map(({ packageId, signedState }) => [packageId, signedState]),
      [
        [first, 'opened'],
        [answer, 'received'],
        [revoked, 'revoked'],
        [replayed, 'opened'],
      ],
    )
  }
})

test('[AUD-01] the capsule of a package holds it and its responses', async () => {
  const { capsule: collected } = await readCapsule(bolt, { packageId: first })
  assert.ok(collected.format === 'aex-evidence/3')
  assert.deepEqual(
    collected.packages.map(({ metadata }) => metadata.package_id),
    [first, answer],
  )
  assert.deepEqual(summary((await verifyChains(collected)).checks), [])
})

const clone = () => structuredClone(capsule) as { packages: Mutable<CapsulePackage>[] } & Mutable<CapsuleV3>
type Mutable<T> = { -readonly [K in keyof T]: Mutable<T[K]> }
type Change = (changed: ReturnType<typeof clone>) => unknown
const at = (changed: ReturnType<typeof clone>, index: number) => {
  const found = changed.packages[index]
  assert.ok(found)
  return found
}

/** What somebody does to a capsule, and the first check that does not hold afterwards. */
const CHANGES: readonly (readonly [what: string, change: Change, expected: string])[] = [
  ['removes a revocation from the end', (c) => at(c, 2).entries.pop(), 'record_positions fails at 5'],
  ['removes an entry in the middle', (c) => at(c, 0).entries.splice(2, 1), 'chain_positions fails at 3'],
  ['removes all entries', (c) => (at(c, 0).entries = []), 'chain_positions fails at 0'],
  ['removes a placeholder', (c) => at(c, 3).entries.splice(3, 1), 'chain_positions fails at 4'],
  [
    'changes metadata',
    (c) => (at(c, 0).metadata.expires_at = '2030-01-01T00:00:00Z'),
    'metadata_digest fails at 2',
  ],
  [
    'changes a proof',
    (c) => Object.assign(at(c, 0).entries[4] ?? {}, { proof: { kind: 'x', recorded_at: '' } }),
    'record_leaf fails at 5',
  ],
  [
    'changes a visibility',
    (c) => ((at(c, 0).entries[0] ?? { visibility: '' }).visibility = 'one'),
    'chain_visibility fails at 1',
  ],
  [
    'hides a receipt behind a placeholder',
    (c) =>
      at(c, 0).entries.splice(4, 1, {
        position: 5,
        kind: 'receipt_received',
        visibility: 'one',
        body_hash: '00'.repeat(32),
      }),
    'chain_visibility fails at 5',
  ],
  [
    'calls a receipt a replay',
    (c) =>
      at(c, 0).entries.splice(4, 1, {
        position: 5,
        kind: 'delivery_replayed',
        visibility: 'one',
        body_hash: '00'.repeat(32),
      }),
    'record_leaf fails at 5',
  ],
  ['removes a record in the middle', (c) => at(c, 0).records.splice(1, 1), 'record_positions fails at 5'],
  ['removes the last record', (c) => at(c, 0).records.pop(), 'record_missing unproved at 7'],
  [
    'repeats a record',
    (c) => at(c, 0).records.push(...at(c, 0).records.slice(0, 1)),
    'record_positions fails at 1',
  ],
  [
    'takes the proof of another record',
    (c) => Object.assign(at(c, 0).records[0] ?? {}, { proof: at(c, 1).records[0]?.proof }),
    'record_leaf fails at 1',
  ],
  [
    'takes another salt',
    (c) => Object.assign(at(c, 0).records[0] ?? {}, { salt: at(c, 1).records[0]?.salt }),
    'record_leaf fails at 1',
  ],
  ['swaps packages', (c) => c.packages.push(...c.packages.splice(0, 1)), 'package_order fails'],
  ['repeats a package', (c) => c.packages.push(at(c, 0)), 'package_thread fails'],
  ['names another thread', (c) => (c.thread_id = 'thread_other'), 'package_thread fails'],
  [
    'takes the head of another package',
    (c) => (at(c, 0).head = at(c, 1).head as never),
    'head_subject fails at 5',
  ],
  [
    'lowers the position of a head',
    (c) => Object.assign(at(c, 0).head ?? {}, { position: 4 }),
    'head_signature fails at 4',
  ],
  [
    'changes the key of a head',
    (c) => Object.assign(at(c, 0).head?.signature ?? {}, { key_id: 'x' }),
    'head_signature fails at 7',
  ],
  [
    'removes the tail that a head states',
    (c) => {
      at(c, 0).entries.splice(6)
      at(c, 0).records.pop()
    },
    'head_link fails at 7',
  ],
  [
    'replaces a key',
    (c) => Object.assign(c.keys[0] ?? {}, { public_key: c.keys[1]?.public_key }),
    'key_bound fails',
  ],
  [
    'gives a key to another organization',
    (c) => Object.assign(c.keys[0] ?? {}, { organization_id: 'org_x' }),
    'key_bound fails',
  ],
  ['repeats a key', (c) => c.keys.push(...c.keys.slice(0, 1)), 'key_bound fails'],
  [
    'changes a key event',
    (c) => Object.assign(c.log.key_events[0] ?? {}, { valid_from: '2020-01-01T00:00:00Z' }),
    'key_event_leaf fails',
  ],
  ['removes the first key event of an agent', (c) => c.log.key_events.shift(), 'key_event_numbers fails'],
  ['changes the log key', (c) => (c.log.key = c.log.key.slice(0, -4)), 'log_checkpoint fails'],
  [
    'changes the checkpoint',
    (c) => (c.log.checkpoint = c.log.checkpoint.replace('\n', ' \n')),
    'log_checkpoint fails',
  ],
  [
    'changes an earlier checkpoint',
    (c) => Object.assign(c.log.history?.[0] ?? {}, { consistency: [] }),
    'log_history fails',
  ],
]

for (const [what, change, expected] of CHANGES)
  test(`[AUD-03] whoever ${what} is found out`, async () => {
    const changed = clone()
    change(changed)
    const { checks, exitCode } = await verifyCapsule(changed, { require: 'unpinned' })
    const found = summary(checks)
    assert.ok(found.includes(expected), `${expected} is not among ${found.join(', ')}`)
    assert.notEqual(exitCode, 0)
  })

test('[AUD-03] an entry that a head denies, in a leaf that the head covers, convicts the exchange', async () => {
  const changed = clone()
  const head = at(changed, 0).head
  assert.ok(head)
  const { position: _, ...rest } = head
  Object.assign(head, { ...rest, position: 4, log: { ...head.log, size: 1_000_000 } })
  assert.ok(summary((await verifyChains(changed)).checks).includes('head_false fails at 5'))
})

test('[AUD-01] a thread with packages from before holds the others, and the earlier ones are collected apart', async () => {
  await using upgraded = await startWorld({ profile: QUICK_LOG, config: { role: 'all' }, evidenceVersion: 1 })
  const old = await wholeThread(upgraded)
  const early = await readCapsule(old.acme, { threadId: old.threadId })
  assert.equal(early.capsule.format, 'aex-evidence/2')
  await upgraded.sql`update evidence_version set version = 2`
  const packageIds: string[] = []
  for (let tries = 0; tries < 100; tries++) {
    // The process reads the version every few seconds.
    const input = inputFor(old.bolt, old.acme, { thread_id: old.threadId })
    const { packageId } = await sendPackage(old.bolt, input, { outbox: createMemoryOutbox() })
    packageIds.push(packageId)
    const rows = await upgraded.sql`
      select from package where package_id = ${packageId} and chain_position is not null`
    if (rows.length > 0) break
    await sleep(100)
  }
  const packageId = packageIds.pop()
  const count = packageIds.length + 3
  const { capsule: mixed, earlierPackages } = await readCapsule(old.acme, { threadId: old.threadId })
  assert.ok(mixed.format === 'aex-evidence/3')
  assert.deepEqual(
    [mixed.packages.map(({ metadata }) => metadata.package_id), earlierPackages],
    [[packageId], count],
  )
  assert.deepEqual(summary((await verifyChains(mixed)).checks), [])
  const { capsule: earlier } = await readEarlierCapsule(old.acme, { threadId: old.threadId })
  assert.equal(earlier.packages.length, count)
  const { word, level } = await verifyCapsule(earlier, { require: 'unpinned' })
  assert.deepEqual([word, level], ['consistent', 'signed-only'])
})
