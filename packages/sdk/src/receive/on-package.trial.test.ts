import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { generateKeyPair } from '@agent-exchange/crypto'
import { startWorld, until } from '@agent-exchange/testkit'
import { connect, type Agent, type ConnectOptions } from '../agent.ts'
import { startAgent, startAgents, type TestAgent } from '../agents.fixture.ts'
import { createMemoryOutbox } from '../outbox/memory-outbox.ts'
import { sendCrafted } from '../send/crafted.fixture.ts'
import { inputFor, policyFor, SECRET_WORDS, SKILL } from '../send/drafts.fixture.ts'
import { readThread } from '../connection/read-thread.ts'
import { revokePackage } from '../send/revoke-package.ts'
import { sendPackage } from '../send/send-package.ts'
import { MemoryInbox } from './memory-inbox.ts'
import type { PackageHandler, ReceivedPackage } from './package-handler.ts'
import type { ReceiverReport } from './reports.ts'
import type { Receiver } from './receiver.ts'

const cleanup = new AsyncDisposableStack()
after(() => cleanup.disposeAsync())
const world = cleanup.use(await startWorld())
const outbox = createMemoryOutbox()

const LIMITS = {
  pollMs: 20,
  handlerRetryMs: 1,
  handlerRetryLongestMs: 2,
  pollRetryMs: 5,
  pollRetryLongestMs: 10,
  jitter: 0,
}

interface Stage {
  readonly agent: Agent
  readonly inbox: MemoryInbox
  readonly reports: ReceiverReport[]
  readonly receiver: Receiver
}

/** Runs a handler for an agent that answers the other one by default. */
async function handling(
  own: TestAgent,
  peer: TestAgent,
  handle: PackageHandler<undefined>,
  given: Partial<ConnectOptions> & { readonly inbox?: MemoryInbox } = {},
): Promise<Stage & AsyncDisposable> {
  const { inbox = new MemoryInbox(), ...options } = given
  const defaults = { policy: policyFor(own, peer), skill: SKILL }
  const agent = await connect({ ...own.options, defaults, ...options })
  const reports: ReceiverReport[] = []
  const onReport = (report: ReceiverReport) => void reports.push(report)
  const receiver = agent.onPackage(handle, { inbox, onReport, limits: LIMITS })
  await receiver.start()
  return { agent, inbox, reports, receiver, [Symbol.asyncDispose]: () => receiver.stop() }
}

const send = async (from: TestAgent, to: TestAgent) => sendPackage(from, inputFor(from, to), { outbox })

async function packagesIn(reader: TestAgent, threadId: string) {
  const found = []
  for await (const { packages } of readThread(reader, threadId)) found.push(...packages)
  return found
}

async function responsesTo(
  reader: TestAgent,
  { packageId, threadId }: { packageId: string; threadId: string },
) {
  const packages = await packagesIn(reader, threadId)
  return packages.filter(({ metadata }) => metadata.responds_to_package_id === packageId)
}

async function receiptStates(packageId: string): Promise<string[]> {
  const rows = await world.sql<{ state: string }[]>`
    select state from package_receipt where package_id = ${packageId} order by accepted_at`
  return rows.map(({ state }) => state)
}

test('[EVT-14][PKG-08] only packages for this agent are handled: opened, in order, with receipts', async () => {
  const { acme, bolt } = await startAgents(world, 'acme', 'bolt')
  const colleague = await startAgent(world, 'colleague', { colleagueOf: bolt })
  const seen: ReceivedPackage[] = []
  await using stage = await handling(bolt, acme, async (received) => void seen.push(received))
  const first = await send(acme, bolt)
  await send(acme, colleague)
  await send(bolt, acme)
  const second = await send(acme, bolt)
  await until('both', async () => seen.length >= 2 && (await stage.inbox.position()).pending === 0)
  assert.deepEqual(
    seen.map(({ packageId }) => packageId),
    [first.packageId, second.packageId],
  )
  const [received] = seen
  assert.deepEqual(received?.from, acme.identity)
  assert.equal(received?.thread.id, first.threadId)
  assert.ok(received?.object.object_type === 'reasoning_package')
  assert.equal(received.object.facts[0]?.statement, SECRET_WORDS)
  assert.deepEqual(await receiptStates(first.packageId), ['received', 'opened'])
  assert.deepEqual(stage.reports, [])
})

test('[PKG-09][API-04] a handler that fails after its answer answers once, however it words it', async () => {
  const { acme, bolt } = await startAgents(world, 'acme', 'bolt')
  const sent: { packageId: string; resumed: boolean }[] = []
  await using stage = await handling(bolt, acme, async ({ attempt, reply }) => {
    sent.push(await reply({ summary: `Answer ${attempt}.`, actions: ['agree'] }))
    if (attempt < 3) throw new RangeError('no such site')
  })
  const question = await send(acme, bolt)
  await until('three calls', () => sent.length === 3)
  assert.deepEqual(
    sent.map(({ resumed }) => resumed),
    [false, true, true],
  )
  assert.equal(new Set(sent.map(({ packageId }) => packageId)).size, 1)
  const answers = await responsesTo(acme, question)
  assert.equal(answers.length, 1)
  const reader = await connect(acme.options)
  const { object } = await reader.open(answers[0]?.package_id ?? '')
  assert.ok(object.object_type === 'response_object')
  assert.equal(object.response_summary, 'Answer 1.')
  const failed = stage.reports.filter(({ kind }) => kind === 'handler_failed')
  assert.equal(failed.length, 2)
})

test('[PKG-09] the answer stays the only one after the outbox is lost', async () => {
  const { acme, bolt } = await startAgents(world, 'acme', 'bolt')
  const inbox = new MemoryInbox()
  const question = await send(acme, bolt)
  let first: string | undefined
  {
    await using stage = await handling(
      bolt,
      acme,
      async ({ reply }) => {
        first = (await reply({ summary: 'Before the crash.' })).packageId
        throw new Error('dies here')
      },
      { inbox },
    )
    await until('an answer', () => first !== undefined)
    await stage.receiver.stop()
  }
  let second: { packageId: string; resumed: boolean } | undefined
  await using _ = await handling(
    bolt,
    acme,
    async ({ reply }) => void (second = await reply({ summary: 'After it.' })),
    { inbox, outbox: createMemoryOutbox() },
  )
  await until('a second call', () => second !== undefined)
  assert.deepEqual([second?.packageId, second?.resumed], [first, true])
  assert.equal((await responsesTo(acme, question)).length, 1)
})

test('[PKG-09] a decline says why; a second answer needs a key of its own', async () => {
  const { acme, bolt } = await startAgents(world, 'acme', 'bolt')
  const refused: unknown[] = []
  let isDone = false
  await using _ = await handling(bolt, acme, async ({ decline, reply }) => {
    await decline('Our policy shares no stock levels.')
    await reply({ summary: 'again' }).catch((error: unknown) => refused.push(error))
    await reply({ summary: 'Ask again in week 13.', actions: ['add_context'], key: 'context' })
    isDone = true
  })
  const question = await send(acme, bolt)
  await until('two answers', () => isDone)
  assert.match(String(refused[0]), /already answered/)
  const answers = await responsesTo(acme, question)
  assert.equal(answers.length, 2)
  const reader = await connect(acme.options)
  const objects = await Promise.all(answers.map(async (p) => (await reader.open(p.package_id)).object))
  const declined = objects.find(
    (object) =>
      object.object_type === 'response_object' && object.response_actions[0] === 'decline_with_policy',
  )
  assert.ok(declined?.object_type === 'response_object')
  assert.equal(declined.response_summary, 'Our policy shares no stock levels.')
})

test('[POL-01] an auto-responder answers only organizations that its policy allows', async () => {
  const { acme, bolt, core } = await startAgents(world, 'acme', 'bolt', 'core')
  await using stage = await handling(bolt, core, async ({ reply }) => void (await reply({ summary: 'Yes.' })))
  const question = await send(acme, bolt)
  await until('set aside', async () => (await stage.inbox.position()).setAside === 1)
  assert.deepEqual(await responsesTo(acme, question), [])
  assert.match((await stage.receiver.setAside())[0]?.reason ?? '', /^policy_refused/)
})

test('a handler that keeps failing is called a limited number of times, and the next package goes on', async () => {
  const { acme, bolt } = await startAgents(world, 'acme', 'bolt')
  const calls: string[] = []
  const first = await send(acme, bolt)
  const second = await send(acme, bolt)
  await using stage = await handling(bolt, acme, async ({ packageId }) => {
    calls.push(packageId)
    if (packageId === first.packageId) throw new RangeError('no such site')
  })
  await until('the second', () => calls.includes(second.packageId))
  assert.equal(calls.filter((id) => id === first.packageId).length, 8)
  assert.deepEqual(
    stage.reports
      .filter(({ kind }) => kind === 'set_aside')
      .map((report) => 'reason' in report && report.reason),
    ['RangeError: no such site'],
  )
})

test('[PKG-08] a package that was sealed wrongly is rejected by a receipt, reported, and handled by nobody', async () => {
  const { acme, bolt } = await startAgents(world, 'acme', 'bolt')
  const { publicKey } = await generateKeyPair('encryption')
  const wrong = await sendCrafted(acme, bolt, { recipientKey: publicKey })
  const right = await send(acme, bolt)
  const seen: string[] = []
  await using stage = await handling(bolt, acme, async ({ packageId }) => void seen.push(packageId))
  await until('the right one', () => seen.length === 1)
  assert.deepEqual(seen, [right.packageId])
  assert.deepEqual(await receiptStates(wrong.package_id), ['rejected'])
  const [report] = stage.reports
  assert.ok(report?.kind === 'package_refused')
  assert.deepEqual(
    [report.packageId, report.receipt, report.error.code],
    [wrong.package_id, 'rejected', 'content_not_opened'],
  )
})

test('[PKG-08] a package that this side cannot open gets a failed receipt and waits for a retry', async () => {
  const { acme, bolt } = await startAgents(world, 'acme', 'bolt')
  const sent = await send(acme, bolt)
  const seen: string[] = []
  let hasLostKey = true
  const keys = {
    ...bolt.keys,
    list: async () => (await bolt.keys.list()).filter((k) => !hasLostKey || k.role !== 'encryption'),
  }
  await using stage = await handling(bolt, acme, async ({ packageId }) => void seen.push(packageId), { keys })
  await until('set aside', async () => (await stage.inbox.position()).setAside === 1)
  assert.deepEqual(await receiptStates(sent.packageId), ['failed'])
  hasLostKey = false
  const [event] = await stage.receiver.setAside()
  await stage.receiver.retrySetAside(event?.eventId ?? '')
  await until('handled', () => seen.length === 1)
  assert.deepEqual(await receiptStates(sent.packageId), ['failed', 'received', 'opened'])
})

test('[PKG-10] a package that was revoked before it was opened is reported, and handled by nobody', async () => {
  const { acme, bolt } = await startAgents(world, 'acme', 'bolt')
  const { packageId } = await send(acme, bolt)
  await revokePackage(acme, packageId, { reasonCode: 'other', reasonDetail: 'Wrong figures.' })
  const seen: string[] = []
  await using stage = await handling(bolt, acme, async (received) => void seen.push(received.packageId))
  await until('a report', () => stage.reports.length === 1)
  const [report] = stage.reports
  assert.ok(report?.kind === 'package_refused')
  assert.deepEqual([report.receipt, report.error.code, seen], [undefined, 'content_unavailable', []])
})

test('[EVT-14] an exchange that announces a package again under another event has it handled once', async () => {
  const { acme, bolt } = await startAgents(world, 'acme', 'bolt')
  const seen: string[] = []
  const inbox = new MemoryInbox()
  await using stage = await handling(bolt, acme, async ({ packageId }) => void seen.push(packageId), {
    inbox,
  })
  await send(acme, bolt)
  await until('handled', () => seen.length === 1)
  await stage.receiver.stop()
  const [event] = await inbox.list('processed', 9)
  assert.ok(event)
  const highest = (await inbox.position()).highestSequence
  const body = JSON.parse(event.body) as object
  const sequence = highest + 1
  const again = { ...body, event_id: 'evt_again', notification_id: 'ntf_again', sequence }
  await inbox.store(
    { eventId: 'evt_again', notificationId: 'ntf_again', sequence, body: JSON.stringify(again) },
    'webhook',
    world.clock.now(),
  )
  await stage.receiver.start()
  await until('nothing pending', async () => (await inbox.position()).pending === 0)
  assert.equal(seen.length, 1)
})

test('an exchange that is away costs no attempts: the package waits', async () => {
  const { acme, bolt } = await startAgents(world, 'acme', 'bolt')
  await send(acme, bolt)
  let isAway = false
  const calls: number[] = []
  const reach: NonNullable<ConnectOptions['fetch']> = (url, init) =>
    isAway && url.includes('/v1/packages/') ? Promise.reject(new TypeError('fetch failed')) : fetch(url, init)
  isAway = true
  await using stage = await handling(bolt, acme, async ({ attempt }) => void calls.push(attempt), {
    fetch: reach,
    limits: { attempts: 1 },
  })
  const troubles = () =>
    stage.reports.filter((report) => report.kind === 'trouble' && report.during === 'exchange').length
  await until('ten failures', () => troubles() >= 10)
  isAway = false
  await until('handled', () => calls.length === 1)
  assert.deepEqual(calls, [1])
})

test('[POL-01] an agent without a default policy says so, and sends nothing', async () => {
  const { acme, bolt } = await startAgents(world, 'acme', 'bolt')
  const question = await send(acme, bolt)
  const refused: unknown[] = []
  await using _ = await handling(
    bolt,
    acme,
    async ({ reply }) => void (await reply({ summary: 'Yes.' }).catch((error) => refused.push(error))),
    { defaults: {} },
  )
  await until('refused', () => refused.length === 1)
  assert.match(String(refused[0]), /No policy was given/)
  assert.deepEqual(await responsesTo(acme, question), [])
})
