import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { after, test } from 'node:test'
import { formatVerifierKey, parsePolicy, verifyCapsule } from '@agent-exchange/log'
import { QUICK_LOG, startWorld } from '@agent-exchange/testkit'
import { createContext } from '../create-context.ts'
import { wholeThread } from '../evidence/evidence.fixture.ts'
import { checkLog } from '../log/accept-checkpoint.ts'
import { createMemoryLogState } from '../log-state.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { inputFor } from '../send/drafts.fixture.ts'
import { sendPackage } from '../send/send-package.ts'
import { monitorLog } from './monitor-log.ts'
import { watchLabels } from './watched-labels.ts'
import { readCapsule } from '../evidence/read-capsule.ts'

const world = await startWorld({ profile: QUICK_LOG, config: { role: 'all', masterKey: randomBytes(32) } })
after(() => world[Symbol.asyncDispose]())
const thread = await wholeThread(world)
const subject = { threadId: thread.threadId }
const context = createContext({ ...thread.bolt.options, log: createMemoryLogState() })

test('[AUD-01] a capsule of a real exchange is log-signed, with all keys and all records proved', async () => {
  const { capsule, pending, hasLog } = await readCapsule(context, subject)
  assert.deepEqual([pending, hasLog], [[], true])
  assert.ok('log' in capsule)
  const { keys } = (await checkLog(context)) ?? { keys: [] }
  const policy = parsePolicy(keys.map((key) => `log ${formatVerifierKey(key)}\nquorum none\n`).join(''))
  const result = await verifyCapsule(JSON.parse(JSON.stringify(capsule)), { policy })
  assert.deepEqual([result.contradictions, result.level], [[], 'log-signed'])
  assert.ok(result.keys.some(({ agentId }) => agentId === 'agent_platform'))
})

test('[AUD-03] a monitor of a real exchange finds nothing, and goes on where it ended', async () => {
  const first = await monitorLog(context, { threads: [thread.threadId], found: [] })
  assert.ok(first && first.size > 0)
  assert.deepEqual([first.findings, first.scanned], [[], first.size])
  const second = await monitorLog(context, first.state)
  assert.deepEqual(second?.findings, [])
  assert.ok(first.state.found.length > 0)
})

test('[AUD-03] threads without room are named, and the newest come first', async () => {
  const older = thread.threadId
  const { threadId: newer } = await sendPackage(thread.acme, inputFor(thread.acme, thread.bolt), {
    outbox: createMemoryOutbox(),
  })
  const known = await monitorLog(context, { threads: [older], found: [] })
  assert.deepEqual(known?.state.threads, [newer, older])
  const all = await watchLabels(context, { threads: [newer, older], keyEvents: [] })
  let steps = 0
  const onStep = async () => void (steps += 1)
  const room = { threads: [newer, older], keyEvents: [], onStep }
  const watched = await watchLabels(context, { ...room, maximumLabels: all.labels.size - 1 })
  assert.deepEqual([watched.threads, watched.unwatched], [[newer], [older]])
  const stepsOfBoth = steps
  steps = 0
  // Where nothing fits any more, the exchange is not asked.
  const none = await watchLabels(context, { ...room, maximumLabels: 1 })
  assert.deepEqual([none.unwatched, steps, stepsOfBoth > 0], [[newer, older], 0, true])
})

test('earlier checkpoints of a real exchange are part of the capsule', async () => {
  const before = await checkLog(context)
  const again = await wholeThread(world)
  const { capsule } = await readCapsule(again.bolt, { threadId: again.threadId })
  assert.ok('log' in capsule && before)
  assert.ok((capsule.log.history ?? []).length > 0)
  const result = await verifyCapsule(capsule, { require: 'unpinned' })
  assert.deepEqual([result.contradictions, result.level], [[], 'unpinned'])
})

test('a rotation of the log key is followed', async () => {
  const before = await checkLog(context)
  assert.equal(
    (await world.operate('POST', '/keys/rotate', { purpose: 'log', reason: 'yearly' })).status,
    200,
  )
  world.clock.advance(6)
  await wholeThread(world)
  for (let tries = 0; tries < 200; tries++) {
    const now = await checkLog(context)
    if (now?.keys.length === 2 && now.signatures.length === 2) return
    await new Promise((resolve) => void setTimeout(resolve, 50))
  }
  assert.fail(`the agent still knows ${before?.keys.length} key`)
})
