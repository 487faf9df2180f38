import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { startWorld, until } from '@agent-exchange/testkit'
import { connect } from '../agent.ts'
import { startAgent, startAgents } from '../agents.fixture.ts'
import { ExchangeError, type ExchangeErrorCode } from '../errors.ts'
import { createMemoryKeyStore } from '../keys/memory-key-store.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { inputFor, policyFor, SKILL } from '../send/drafts.fixture.ts'
import { sendPackage } from '../send/send-package.ts'
import { MemoryInbox } from './memory-inbox.ts'
import type { PackageHandler } from './package-handler.ts'
import { RECEIVE_LIMITS } from './receive-limits.ts'
import type { ReceiverReport } from './reports.ts'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())

/** Pauses of milliseconds; the number of attempts is that of production. */
const QUICK = {
  pollMs: 20,
  pollRetryMs: 1,
  pollRetryLongestMs: 2,
  handlerRetryMs: 1,
  handlerRetryLongestMs: 2,
  keyRetryLongestMs: 2,
  jitter: 0,
}
const MORE_THAN_ALL_ATTEMPTS = RECEIVE_LIMITS.handlerAttempts * 2

/** An agent whose keys can fail with any code, beside a sender. */
async function withFailingKeys() {
  const { acme } = await startAgents(world, 'acme')
  const memory = createMemoryKeyStore()
  const failure: { code?: ExchangeErrorCode } = {}
  const keys = {
    ...memory,
    privateKey: async (keyId: string) => {
      if (failure.code)
        throw new ExchangeError(failure.code, { retryable: failure.code === 'key_unavailable' })
      return memory.privateKey(keyId)
    },
  }
  const dora = await startAgent(world, 'dora', { keys })
  const send = () => sendPackage(acme, inputFor(acme, dora), { outbox: createMemoryOutbox() })
  return { acme, dora, failure, send }
}

type Failing = Awaited<ReturnType<typeof withFailingKeys>>

async function receiving({ acme, dora }: Failing, handle: PackageHandler<undefined>) {
  const agent = await connect({ ...dora.options, defaults: { policy: policyFor(dora, acme), skill: SKILL } })
  const inbox = new MemoryInbox()
  const reports: ReceiverReport[] = []
  const onReport = (report: ReceiverReport) => void reports.push(report)
  const receiver = agent.onPackage(handle, { inbox, onReport, limits: QUICK })
  const troubles = () =>
    reports.filter((report) => report.kind === 'trouble' && report.during === 'keys').length
  return { receiver, inbox, reports, troubles }
}

for (const code of ['key_unavailable', 'key_store_unavailable', 'key_store_locked'] as const)
  test(`[PKG-08][EVT-14] ${code}: however long it lasts, packages wait without an attempt, and then open in order`, async () => {
    const failing = await withFailingKeys()
    const seen: { packageId: string; attempt: number }[] = []
    const { receiver, inbox, reports, troubles } = await receiving(failing, ({ packageId, attempt }) => {
      seen.push({ packageId, attempt })
    })
    const sent = [await failing.send(), await failing.send()]
    failing.failure.code = code
    await using _ = receiver
    await receiver.start()
    await until('more failures than attempts', () => troubles() > MORE_THAN_ALL_ATTEMPTS)
    assert.deepEqual(await receiver.setAside(), [])
    assert.ok((await inbox.position()).pending >= sent.length)
    delete failing.failure.code
    await until('both packages', () => seen.length === 2)
    assert.deepEqual(
      seen,
      sent.map(({ packageId }) => ({ packageId, attempt: 1 })),
    )
    const kinds = new Set(reports.map(({ kind }) => kind))
    assert.deepEqual([...kinds], ['trouble'])
  })

test('[PKG-09][EVT-14] keys that fail while the handler answers delay the answer, and there is one', async () => {
  const failing = await withFailingKeys()
  const answers: string[] = []
  const { receiver, troubles } = await receiving(failing, async ({ reply }) => {
    if (answers.length === 0 && troubles() === 0) failing.failure.code = 'key_unavailable'
    answers.push((await reply({ summary: 'Agreed.', actions: ['agree'] })).packageId)
  })
  await failing.send()
  await using _ = receiver
  await receiver.start()
  await until('more failures than attempts', () => troubles() > MORE_THAN_ALL_ATTEMPTS)
  assert.deepEqual([answers, await receiver.setAside()], [[], []])
  delete failing.failure.code
  await until('the answer', () => answers.length === 1)
})

const CLOSED = {
  token_refused: {
    path: /\/token$/u,
    answer: async () => Response.json({ error: 'invalid_client' }, { status: 401 }),
  },
  timed_out: {
    path: /\/v1\/packages\//u,
    answer: () => Promise.reject(new ExchangeError('timed_out', { retryable: true })),
  },
}

for (const [code, closed] of Object.entries(CLOSED))
  test(`[EVT-14] ${code}: an exchange that lets the agent do nothing sets no event aside`, async () => {
    const { acme } = await startAgents(world, 'acme')
    let isClosed = false
    const erin = await startAgent(world, 'erin', {
      limits: { attempts: 1 },
      fetch: (url, init) =>
        isClosed && closed.path.test(new URL(url).pathname) ? closed.answer() : fetch(url, init),
    })
    const inbox = new MemoryInbox()
    const reports: ReceiverReport[] = []
    let handled = 0
    const start = async () => {
      const agent = await connect({ ...erin.options, lazily: true })
      return agent.onPackage(() => void handled++, {
        inbox,
        onReport: (report) => reports.push(report),
        limits: QUICK,
      })
    }
    await sendPackage(acme, inputFor(acme, erin), { outbox: createMemoryOutbox() })
    const first = await start()
    await first.poll()
    isClosed = true
    // Another process: it has no access token yet.
    await using receiver = await start()
    await receiver.start()
    const during = () =>
      reports.filter((each) => each.kind === 'trouble' && each.during === 'exchange').length
    await until('more failures than attempts', () => during() > MORE_THAN_ALL_ATTEMPTS)
    assert.deepEqual(await receiver.setAside(), [])
    isClosed = false
    await until('the package', () => handled === 1)
  })
