import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parsePolicy, verifyCapsule, type CapsuleResult, type CapsuleV3 } from '@agent-exchange/log'
import { chainCapsuleOf, POLICY, QUICK_LOG, startWorld } from '@agent-exchange/testkit'
import { wholeThread } from './evidence.fixture.ts'
import { readCapsule } from './read-capsule.ts'

const world = await startWorld({ profile: QUICK_LOG, config: { role: 'all' } })
after(() => world[Symbol.asyncDispose]())
const thread = await wholeThread(world)
const { capsule: collected } = await readCapsule(thread.bolt, { threadId: thread.threadId })
const capsule = await chainCapsuleOf(collected as CapsuleV3, { platform: world, cosigners: 2 })
const policy = parsePolicy(POLICY)

/** Far above what linear work needs here, and far below what quadratic work would need. */
const LIMIT_MS = 180_000
const many = <T>(count: number, make: (at: number) => T): T[] =>
  Array.from({ length: count }, (_, at) => make(at))

async function verified(hostile: CapsuleV3): Promise<CapsuleResult> {
  const start = performance.now()
  const result = await verifyCapsule(hostile, { policy })
  assert.ok(performance.now() - start < LIMIT_MS, `took ${performance.now() - start} ms`)
  return result
}

const [shown] = capsule.packages
const [entry] = shown?.entries ?? []
const [record] = shown?.records ?? []
const [key] = capsule.keys
const [event] = capsule.log.key_events
assert.ok(shown && entry && record && key && event)
const codesIn = ({ contradictions }: CapsuleResult) => contradictions.map(({ code }) => code)

test('[AUD-03] a package of 100,000 entries that nobody logged ends in a contradiction', async () => {
  const entries = many(100_000, (at) => ({ ...entry, position: at + 1 }))
  const result = await verified({ ...capsule, packages: [{ ...shown, entries }] })
  assert.equal(result.exitCode, 1)
})

test('[AUD-03] one record of 50,000 entries, and many that claim the same entries, end in contradictions', async () => {
  const entries = many(50_000, (at) => ({ ...entry, position: at + 1 }))
  const whole = { ...record, first_position: 1, last_position: entries.length }
  const one = await verified({ ...capsule, packages: [{ ...shown, entries, records: [whole] }] })
  assert.ok(codesIn(one).includes('record_leaf'))
  const records = many(50_000, (at) => ({ ...whole, first_position: at + 1 }))
  const overlapping = await verified({ ...capsule, packages: [{ ...shown, entries, records }] })
  assert.ok(codesIn(overlapping).includes('record_positions'))
})

test('[AUD-03] 10,000 keys and 100,000 key events are compared in linear time; more are unreadable', async () => {
  const keys = many(10_000, (at) => ({ ...key, key_id: `key_${at}` }))
  const events = many(100_000, () => event)
  const result = await verified({ ...capsule, keys, log: { ...capsule.log, key_events: events } })
  assert.ok(codesIn(result).includes('key_event_numbers'))
  const beyond = [
    { ...capsule, keys: [...keys, key] },
    { ...capsule, log: { ...capsule.log, key_events: [...events, event] } },
    { ...capsule, packages: [{ ...shown, records: many(250_001, () => record) }] },
  ]
  for (const each of beyond) assert.equal((await verified(each)).outcome, 'unreadable')
})
