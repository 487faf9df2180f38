import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { parsePolicy, verifySplitView } from '@agent-exchange/log'
import { POLICY, TestLog } from '@agent-exchange/testkit'
import { startAgents } from '../agents.fixture.ts'
import { createContext } from '../create-context.ts'
import { inputFor, policyFor, responseFor, SKILL } from '../send/drafts.fixture.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { openPackage } from '../open/open-package.ts'
import { respondToPackage } from '../send/respond-to-package.ts'
import { resumeOutbox } from '../send/resume-outbox.ts'
import { sendPackage } from '../send/send-package.ts'
import { startProxiedWorld } from '../meddling-proxy.fixture.ts'
import { MemoryInbox } from '../receive/memory-inbox.ts'
import { createReceiver } from '../receive/receiver.ts'
import { createMemoryLogState } from '../log-state.ts'
import { watchLog } from './watch-log.ts'

const { world, proxy, ...proxied } = await startProxiedWorld()
after(() => proxied[Symbol.asyncDispose]())
const { acme, bolt } = await startAgents({ ...world, url: proxy.url }, 'acme', 'bolt')
const sent = await sendPackage(acme, inputFor(acme, bolt), { outbox: createMemoryOutbox() })
const { packageId } = sent
const leaf = (byte: number) => new Uint8Array(64).fill(byte)
const log = new TestLog({ platform: world })
log.leaves.push(leaf(1), leaf(2), leaf(3))
await log.publish()

/** A context that looks at the log again, with what it saw before. */
function later(state: ReturnType<typeof createMemoryLogState>, minutes: number, agent = bolt) {
  const now = () => new Date(Date.now() + minutes * 60_000)
  // The connection keeps its clock, which its client assertions need.
  return { ...createContext({ ...agent.options, log: state, limits: { attempts: 1 } }), now }
}
/** A log of its own that both agents are shown. */
async function showLog(): Promise<TestLog> {
  const shown = new TestLog({ platform: world })
  shown.leaves.push(leaf(1), leaf(2), leaf(3))
  await shown.publish()
  proxy.before = ({ path }) => shown.answer(path)
  return shown
}
const unavailable = { status: 503, body: '' }
const receipts = () => proxy.passed.filter(({ path }) => path.endsWith('/receipts')).length

test('[AUD-03] a recipient that is shown another history opens nothing and sends no receipt', async () => {
  const state = createMemoryLogState()
  proxy.before = ({ path }) => log.answer(path)
  await openPackage(later(state, 0), packageId, { receipts: 'none' })
  assert.ok(await state.read())
  const asked = proxy.count('/log/checkpoint')
  await openPackage(later(state, 0), packageId, { receipts: 'none' })
  assert.equal(proxy.count('/log/checkpoint'), asked, 'packages of one minute share a look at the log')

  log.leaves[1] = leaf(9)
  await log.publish()
  const before = receipts()
  await assert.rejects(openPackage(later(state, 2), packageId), { code: 'log_split_view' })
  assert.equal(receipts(), before)
  assert.equal(state.splitViews.length, 1)
})

test('a log that is missing, out of reach or broken keeps nobody from working', async () => {
  for (const instead of [
    { status: 404, body: '' },
    { status: 500, body: '' },
    { status: 200, body: '{' },
  ]) {
    proxy.before = ({ path }) => (path.startsWith('/log/') ? instead : undefined)
    const opened = await openPackage(later(createMemoryLogState(), 0), packageId, { receipts: 'none' })
    assert.equal(opened.metadata.package_id, packageId)
  }
})

test('[AUD-03] whoever sends, answers, resumes or polls is stopped by another history too', async () => {
  const shown = await showLog()
  const state = createMemoryLogState()
  await watchLog(later(state, 0))
  shown.leaves[1] = leaf(9)
  await shown.publish()
  const outbox = createMemoryOutbox()
  const sealed = createMemoryOutbox()
  proxy.after = (request, reply) => (request.path.endsWith('/policy-receipts') ? 'drop' : reply)
  await assert.rejects(
    sendPackage(later(createMemoryLogState(), 0, acme), inputFor(acme, bolt), { outbox: sealed }),
  )
  proxy.after = (_, reply) => reply
  const answer = { object: responseFor(bolt, sent), policy: policyFor(bolt, acme), skill: SKILL }
  const inbox = new MemoryInbox()
  for (const contact of [
    () => sendPackage(later(state, 2, acme), inputFor(acme, bolt), { outbox }),
    () => respondToPackage(later(state, 2), packageId, answer, { outbox }),
    () => resumeOutbox(later(state, 2, acme), { outbox: sealed }),
    () => createReceiver(later(state, 2), { inbox, handle: async () => undefined }).poll(),
  ])
    await assert.rejects(contact(), { code: 'log_split_view' })
  assert.deepEqual(await outbox.pending(10), [], 'nothing was sealed')
  assert.equal((await sealed.pending(10)).length, 1, 'what was sealed before waits')
})

test('[AUD-03] a log out of reach is said with every result, and keeps nobody from sending', async () => {
  await showLog()
  const state = createMemoryLogState()
  await watchLog(later(state, 0, acme))
  const shownLog = proxy.before
  proxy.before = ({ path }) => (path.startsWith('/log/') ? unavailable : undefined)
  const send = (minutes: number) =>
    sendPackage(later(state, minutes, acme), inputFor(acme, bolt), { outbox: createMemoryOutbox() })
  const [first, second] = [await send(2), await send(4)]
  const { since } = (await state.readTrouble()) ?? {}
  for (const { warnings } of [first, second]) {
    assert.deepEqual(
      warnings.map(({ code }) => code),
      ['log_unchecked'],
    )
    assert.ok(warnings[0]?.message.includes(`since ${since}`), warnings[0]?.message)
  }
  const reports: unknown[] = []
  const options = { inbox: new MemoryInbox(), handle: async () => undefined }
  const receiver = createReceiver(later(state, 6), { ...options, onReport: (report) => reports.push(report) })
  await receiver.poll()
  assert.match(JSON.stringify(reports), /"kind":"trouble","during":"log"/u)
  proxy.before = shownLog
  assert.deepEqual((await send(8)).warnings, [])
  assert.equal(await state.readTrouble(), undefined)
})

/** The operator signs a fork, and refuses every proof of it. */
async function refusesProof(state: ReturnType<typeof createMemoryLogState>): Promise<TestLog> {
  const shown = await showLog()
  await watchLog(later(state, 0))
  shown.leaves[1] = leaf(9)
  shown.leaves.push(leaf(10))
  await shown.publish()
  proxy.before = ({ path }) => (path.startsWith('/log/tile/') ? unavailable : shown.answer(path))
  return shown
}

test('[AUD-03] a signed checkpoint whose proof is refused is kept, and is an alarm after an hour', async () => {
  const state = createMemoryLogState()
  const shown = await refusesProof(state)
  for (const minutes of [2, 30, 59]) {
    const { unchecked } = await watchLog(later(state, minutes))
    assert.ok(unchecked)
    assert.equal((await state.readTrouble())?.unproved?.note, shown.checkpoint)
  }
  // Whatever the log answers by then.
  proxy.before = ({ path }) => (path.startsWith('/log/') ? unavailable : undefined)
  for (let tries = 0; tries < 2; tries++)
    await assert.rejects(openPackage(later(state, 65), packageId), { code: 'log_split_view' })
  assert.deepEqual(
    state.splitViews.map(({ second }) => second),
    [shown.checkpoint],
  )
})

test('[AUD-03] an operator cannot take back a fork that it signed by returning to the first history', async () => {
  const state = createMemoryLogState()
  await refusesProof(state)
  await watchLog(later(state, 2))
  const honest = await showLog()
  honest.leaves.push(leaf(4), leaf(5))
  await honest.publish()
  await assert.rejects(watchLog(later(state, 4)), { code: 'log_split_view' })
  const [view] = state.splitViews
  assert.equal((await verifySplitView(view, { policy: parsePolicy(POLICY) })).exitCode, 1)
})

test('[AUD-03] tiles that are missing only for the proof of a fork do not hide the fork', async () => {
  const state = createMemoryLogState()
  const shown = await showLog()
  for (let at = 3; at < 512; at++) shown.leaves.push(leaf(at % 256))
  await shown.publish()
  await watchLog(later(state, 0))
  shown.leaves[1] = leaf(9)
  for (let at = 512; at < 700; at++) shown.leaves.push(leaf(at % 256))
  await shown.publish()
  let tiles = 0
  proxy.before = ({ path }) =>
    path.startsWith('/log/tile/') && ++tiles > 1 ? unavailable : shown.answer(path)
  await assert.rejects(watchLog(later(state, 2)), { code: 'log_split_view' })
  assert.ok(state.splitViews[0] && !state.splitViews[0].fork)
})

test('[AUD-03] a log that proves late what it signed is no alarm', async () => {
  const state = createMemoryLogState()
  const shown = await showLog()
  await watchLog(later(state, 0))
  shown.leaves.push(leaf(4))
  await shown.publish()
  proxy.before = ({ path }) => (path.startsWith('/log/tile/') ? unavailable : shown.answer(path))
  for (const minutes of [2, 20, 40]) assert.ok((await watchLog(later(state, minutes))).unchecked)
  proxy.before = ({ path }) => shown.answer(path)
  assert.deepEqual(await watchLog(later(state, 90)), {})
  assert.equal(await state.readTrouble(), undefined)
})
