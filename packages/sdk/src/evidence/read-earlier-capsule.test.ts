import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import {
  LOWERING_CODES,
  parsePolicy,
  recordLabel,
  verifyCapsule,
  type CapsuleResult,
} from '@agent-exchange/log'
import { POLICY, TestLog } from '@agent-exchange/testkit'
import { readEvidence } from './read-evidence.ts'
import { wholeThread } from './evidence.fixture.ts'
import { createContext } from '../create-context.ts'
import { changed, startProxiedWorld, withoutLog } from '../meddling-proxy.fixture.ts'
import { monitorLog } from '../monitor/monitor-log.ts'
import { createMemoryLogState } from '../log-state.ts'
import { readEarlierCapsule } from './read-earlier-capsule.ts'

const { world, proxy, ...proxied } = await startProxiedWorld({ evidenceVersion: 1 })
after(() => proxied[Symbol.asyncDispose]())
// Agents know the exchange by its public address.
const thread = await wholeThread({ ...world, url: proxy.url })
const evidence = await readEvidence(thread.bolt, { threadId: thread.threadId })
const policy = parsePolicy(POLICY)
const subject = { threadId: thread.threadId }
let log = new TestLog({ platform: world })
/** Contradictions, whether witnesses confirm the log, and what lowers the level: the format always does. */
function proofsIn({ contradictions, checkpoint, checks }: CapsuleResult) {
  const lowering = checks.filter(({ code, result }) => result === 'unproved' && LOWERING_CODES.has(code))
  return [contradictions, checkpoint?.isQuorumMet, lowering.map(({ code }) => code)]
}

const fresh = () => createContext({ ...thread.bolt.options, log: createMemoryLogState() })

beforeEach(async () => {
  log = new TestLog({ platform: world })
  await log.log(evidence)
  proxy.before = ({ path }) => log.answer(path)
  proxy.after = (_, reply) => reply
})

test('[AUD-01][AUD-03] a capsule of a thread is witnessed, with the proofs as the log gave them', async () => {
  await log.publish({ cosigners: 2 })
  const { capsule, pending, hasLog } = await readEarlierCapsule(fresh(), subject)
  assert.deepEqual([pending, hasLog], [[], true])
  const result = await verifyCapsule(capsule, { policy, require: 'witnessed' })
  assert.deepEqual(proofsIn(result), [[], true, ['format_bound']])
})

test('proofs to an earlier checkpoint are made again from tiles, for the newest checkpoint', async () => {
  await log.publish()
  const [before, wanted] = [log.checkpoint, 'checkpoint']
  proxy.before = async ({ path }) => {
    // The log grows after the records were read, and partial tiles are replaced.
    if (path === `/log/${wanted}` && log.checkpoint === before) {
      for (let at = 0; at < 300; at++) log.leaves.push(new Uint8Array(64).fill(at % 256))
      await log.publish({ cosigners: 2 })
    }
    return log.answer(path)
  }
  const { capsule, pending } = await readEarlierCapsule(fresh(), subject)
  assert.deepEqual(pending, [])
  const result = await verifyCapsule(capsule, { policy })
  assert.deepEqual([proofsIn(result), result.checkpoint?.size], [[[], true, ['format_bound']], log.size])
})

test('it waits until the log includes everything, and says what it waits for', async () => {
  await log.publish({ size: log.leaves.length - 2 })
  const waits: number[] = []
  const onWait = (pending: readonly unknown[]) => {
    waits.push(pending.length)
    void log.publish({ cosigners: 2 })
  }
  const { capsule, pending } = await readEarlierCapsule(fresh(), subject, { onWait })
  assert.deepEqual([waits, pending], [[2], []])
  assert.deepEqual(proofsIn(await verifyCapsule(capsule, { policy })), [[], true, ['format_bound']])
})

test('after the wait, what is missing is named as a promise, and the capsule proves no more', async () => {
  // The last record, and what happened to keys after it.
  await log.publish({ size: log.records.at(-1)?.index ?? 0, cosigners: 2 })
  const { capsule, pending } = await readEarlierCapsule(fresh(), subject, { waitMs: 0 })
  assert.deepEqual(
    pending.map(({ what }) => what),
    ['record', 'key_event', 'key_event'],
  )
  const result = await verifyCapsule(capsule, { policy })
  assert.deepEqual([result.contradictions, result.level], [[], 'signed-only'])
})

test('without a log, or before its first checkpoint, there is evidence of version 1', async () => {
  const early = await readEarlierCapsule(fresh(), subject, { waitMs: 0 })
  assert.deepEqual([early.capsule.format, early.hasLog], ['aex-evidence/1', true])
  assert.ok(early.pending.length > 0)
  proxy.before = withoutLog
  const none = await readEarlierCapsule(fresh(), { packageId: thread.first })
  assert.deepEqual([none.capsule.format, none.hasLog], ['aex-evidence/1', false])
})

const isoTime = (seconds: number) => new Date(seconds * 1_000).toISOString()

test('[AUD-01] earlier cosigned checkpoints bound the time of each leaf, also those to an older head', async () => {
  const half = Math.floor(log.leaves.length / 2)
  const time = Math.floor(Date.now() / 1_000)
  await log.publish({ size: half, cosigners: 2, time })
  await log.publish({ cosigners: 2, time: time + 100 })
  for (const isGrowing of [false, true]) {
    proxy.before = async ({ path }) => {
      const reply = await log.answer(path)
      // The log grows between the checkpoint and the history.
      if (!path.startsWith('/log/history') || !reply || !isGrowing) return reply
      const answer = JSON.parse(String(reply.body)) as { history: object[] }
      const history = answer.history.map((each) => ({ ...each, consistency: [] }))
      return { ...reply, body: JSON.stringify({ checkpoint: 'a newer one', history }) }
    }
    const { capsule } = await readEarlierCapsule(fresh(), subject)
    const result = await verifyCapsule(capsule, { policy })
    assert.deepEqual(result.contradictions, [])
    const { values } = result.checks.find((check) => check.values?.['index'] === half) ?? {}
    assert.deepEqual([values?.['after'], values?.['before']], [isoTime(time), isoTime(time + 100)])
  }
})

test('[AUD-03] an exchange that proves another leaf than the one it promised is found offline', async () => {
  const [first, second] = log.records
  assert.ok(first && second)
  ;[first.index, second.index] = [second.index, first.index]
  await log.publish({ cosigners: 2 })
  const { capsule } = await readEarlierCapsule(fresh(), subject)
  const result = await verifyCapsule(capsule, { policy })
  assert.ok(result.contradictions.some(({ code }) => code === 'record_leaf'))
})

test('[AUD-03] a monitor finds hidden, repeated and rewritten records of packages from before version 2', async () => {
  const kinds = async () => {
    await log.publish()
    const result = await monitorLog(fresh(), { threads: [thread.threadId], found: [] })
    return result?.findings.map(({ kind }) => kind)
  }
  assert.deepEqual(await kinds(), [])
  const [first] = evidence.packages
  assert.ok(first)
  const { package_id: packageId, content_digest: contentDigest } = first.metadata
  const identity = { packageId, contentDigest, receiptSignature: first.policy_receipt.signature.signature }
  const leafAt = (firstPosition: number) =>
    Uint8Array.of(...recordLabel({ ...identity, firstPosition }), ...new Uint8Array(32))
  log.leaves.push(leafAt(evidence.entries.length + 3), leafAt(1))
  assert.deepEqual((await kinds())?.toSorted(), ['duplicate', 'hidden'])
  log.leaves.splice(-2)
  proxy.after = ({ path }, reply) =>
    path.startsWith(`/v1/audit/packages/${packageId}`)
      ? changed(reply, (body) => ({
          ...body,
          entries: (body['entries'] as { proof: object }[]).map((entry) => ({
            ...entry,
            proof: { ...entry.proof, recorded_at: '2020-01-01T00:00:00.000Z' },
          })),
        }))
      : reply
  assert.ok((await kinds())?.includes('altered'))
})
