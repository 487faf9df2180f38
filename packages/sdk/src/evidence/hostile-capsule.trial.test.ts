import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parsePolicy, verifyCapsule, type Capsule, type CapsuleResult } from '@agent-exchange/log'
import { capsuleOf, POLICY, startWorld } from '@agent-exchange/testkit'
import { wholeThread } from './evidence.fixture.ts'
import { readEvidence } from './read-evidence.ts'

const world = await startWorld({ evidenceVersion: 1 })
after(() => world[Symbol.asyncDispose]())
const thread = await wholeThread(world)
const evidence = await readEvidence(thread.bolt, { threadId: thread.threadId })
const capsule = await capsuleOf(evidence, { cosigners: 2 })
const policy = parsePolicy(POLICY)

/** Far above what linear work needs here, and far below what quadratic work would need. */
const LIMIT_MS = 60_000
const many = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at))

async function verified(hostile: Capsule): Promise<CapsuleResult> {
  const start = performance.now()
  const result = await verifyCapsule(hostile, { policy })
  assert.ok(performance.now() - start < LIMIT_MS, `took ${performance.now() - start} ms`)
  return result
}

const [firstEntry] = evidence.entries
const [firstPackage] = evidence.packages
const [firstKey] = evidence.keys
const [record] = capsule.log.records
const [event] = capsule.log.key_events
assert.ok(firstEntry && firstPackage && firstKey && record && event)

test('[AUD-03] a package of 400,000 positions ends in a contradiction', async () => {
  const positions = many(400_000, (at) => at + 1)
  const result = await verified({ ...capsule, packages: [{ ...firstPackage, positions }] })
  assert.equal(result.exitCode, 1)
})

test('[AUD-03] one record of 200,000 entries, and many that claim the same entries, end in contradictions', async () => {
  const entries = many(200_000, (at) => ({ ...firstEntry, position: at + 1 }))
  const packages = [{ ...firstPackage, positions: entries.map(({ position }) => position) }]
  const whole = { ...record, first_position: 1, last_position: entries.length }
  const one = await verified({ ...capsule, entries, packages, log: { ...capsule.log, records: [whole] } })
  assert.ok(one.contradictions.some(({ code }) => code === 'record_leaf'))
  const records = many(100_000, (at) => ({ ...whole, first_position: at + 1 }))
  const overlapping = await verified({ ...capsule, entries, packages, log: { ...capsule.log, records } })
  assert.ok(overlapping.contradictions.some(({ code }) => code === 'record_positions'))
})

test('[AUD-03] 10,000 keys and 100,000 key events are compared in linear time; more are unreadable', async () => {
  const keys = many(10_000, (at) => ({ ...firstKey, key: { ...firstKey.key, key_id: `key_${at}` } }))
  const events = many(100_000, () => event)
  const result = await verified({ ...capsule, keys, log: { ...capsule.log, key_events: events } })
  assert.ok(result.contradictions.some(({ code }) => code === 'key_event_numbers'))
  const beyond = [
    { ...capsule, keys: [...keys, firstKey] },
    { ...capsule, log: { ...capsule.log, key_events: [...events, event] } },
    { ...capsule, log: { ...capsule.log, records: many(250_001, () => record) } },
  ]
  for (const each of beyond) assert.equal((await verified(each)).outcome, 'unreadable')
})
