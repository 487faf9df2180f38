import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { keyLabel, recordLabel } from '@agent-exchange/log'
import { TestLog } from '@agent-exchange/testkit'
import { createContext } from '../create-context.ts'
import { wholeThread } from '../evidence/evidence.fixture.ts'
import { readEvidence } from '../evidence/read-evidence.ts'
import { startProxiedWorld } from '../meddling-proxy.fixture.ts'
import { createMemoryLogState } from './log-state.ts'
import { monitorLog, type MonitorState } from './monitor-log.ts'

const { world, proxy, ...proxied } = await startProxiedWorld()
after(() => proxied[Symbol.asyncDispose]())
const thread = await wholeThread({ ...world, url: proxy.url })
const evidence = await readEvidence(thread.bolt, { threadId: thread.threadId })
const nothing: MonitorState = { threads: [thread.threadId], found: [] }
let log = new TestLog({ platform: world })
let context = thread.bolt as ReturnType<typeof createContext>
const filler = (byte: number) => new Uint8Array(64).fill(byte)

beforeEach(async () => {
  log = new TestLog({ platform: world })
  await log.log(evidence)
  context = createContext({ ...thread.bolt.options, log: createMemoryLogState() })
  proxy.before = ({ path }) => log.answer(path)
})

/** Publishes what is there and scans it. */
async function scan(state: MonitorState = nothing) {
  await log.publish()
  const result = await monitorLog(context, state)
  assert.ok(result)
  return { ...result, kinds: result.findings.map(({ kind }) => kind) }
}

function leafOf(label: Uint8Array): Uint8Array {
  const leaf = filler(1)
  leaf.set(label)
  return leaf
}

function labelAt(firstPosition: number): Uint8Array {
  const [first] = evidence.packages
  assert.ok(first)
  return recordLabel({
    packageId: first.metadata.package_id,
    contentDigest: first.metadata.content_digest,
    receiptSignature: first.policy_receipt.signature.signature,
    firstPosition,
  })
}

test('[AUD-03] an honest log has no findings, and a second run scans only what is new', async () => {
  const first = await scan()
  assert.deepEqual([first.kinds, first.scanned], [[], log.size])
  assert.ok(first.state.found.length > 0)
  const size = log.size
  for (let at = 0; at < 600; at++) log.leaves.push(filler(at % 256))
  const second = await scan(JSON.parse(JSON.stringify(first.state)) as MonitorState)
  assert.deepEqual([second.kinds, second.scanned, second.size], [[], 600, size + 600])
  const third = await scan(second.state)
  assert.deepEqual([third.kinds, third.scanned], [[], 0])
})

test('[AUD-03] two histories: a second leaf for an event is found, also in a later run', async () => {
  const first = log.records[0]?.record
  assert.ok(first)
  const state = (await scan()).state
  log.leaves.push(filler(9), leafOf(labelAt(first.first_position)))
  const { findings } = await scan(state)
  assert.deepEqual(
    findings.map(({ kind }) => kind),
    ['duplicate'],
  )
  assert.match(findings[0]?.sentence ?? '', /twice, at leaf \d+ and at leaf \d+: the operator keeps two/u)
  assert.deepEqual((await scan()).kinds, ['duplicate'])
})

test('[AUD-03] an event that the exchange does not show is found', async () => {
  log.leaves.push(leafOf(labelAt(evidence.entries.length + 3)))
  const { findings } = await scan()
  assert.deepEqual(
    findings.map(({ kind }) => kind),
    ['hidden'],
  )
  assert.match(findings[0]?.sentence ?? '', /the exchange does not show this event: it hides it/u)
})

test('[ID-04] a hidden key event, such as a revocation, is found by its number alone', async () => {
  const { agentId } = thread.bolt.identity
  const number = log.events.filter(({ event }) => event.agent_id === agentId).length + 1
  log.leaves.push(leafOf(keyLabel({ agentId, number })))
  const { findings } = await scan()
  assert.match(findings[0]?.sentence ?? '', new RegExp(`key event ${number} of ${agentId}`, 'u'))
})

test('[ID-05] a key that the operator registered behind the back of the agent is found', async () => {
  const own = log.events.find(({ event }) => event.agent_id === thread.bolt.identity.agentId)
  assert.ok(own)
  Object.assign(own.event, { thumbprint: 'A'.repeat(43) })
  assert.deepEqual((await scan()).kinds, ['unknown_key'])
})

test('[AUD-03] a leaf that is not where the exchange says is found', async () => {
  const [first, second] = log.records
  assert.ok(first && second)
  ;[first.index, second.index] = [second.index, first.index]
  assert.deepEqual(new Set((await scan()).kinds), new Set(['missing']))
})

test('[AUD-03] entries that are not those of the signed tree are refused', async () => {
  await log.publish()
  proxy.before = async ({ path }) => {
    const reply = await log.answer(path)
    if (!path.includes('/entries/') || !reply) return reply
    const body = Uint8Array.from(reply.body as Uint8Array)
    body[body.length - 1] = (body.at(-1) ?? 0) ^ 1
    return { ...reply, body }
  }
  await assert.rejects(monitorLog(context, nothing), { code: 'log_unverifiable' })
})

test('before the first checkpoint there is nothing to scan', async () => {
  assert.equal(await monitorLog(context, nothing), undefined)
})
