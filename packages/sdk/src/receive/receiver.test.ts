import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { NotificationEnvelope } from '@agent-exchange/protocol'
import { startWorld, until } from '@agent-exchange/testkit'
import { startAgent } from '../agents.fixture.ts'
import { ExchangeError } from '../errors.ts'
import { envelope } from './delivery.fixture.ts'
import { MemoryInbox } from './memory-inbox.ts'
import { incoming } from './notification.ts'
import type { HandlerCall } from './process-events.ts'
import { createReceiver, type ReceiverOptions } from './receiver.ts'
import type { ReceiverReport } from './reports.ts'
import { startStream } from './stream.fixture.ts'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())

/** Waits of milliseconds instead of minutes. */
const QUICK = {
  pollMs: 30,
  safetyPollMs: 30,
  pollRetryMs: 10,
  handlerRetryMs: 5,
  gapPatienceMs: 5,
  idleMs: 50,
}

/** What a receiver read and what it reported. */
function observed(change: Partial<ReceiverOptions> = {}) {
  const seen: NotificationEnvelope[] = []
  const calls: HandlerCall[] = []
  const reports: ReceiverReport[] = []
  const options: ReceiverOptions = {
    inbox: new MemoryInbox(),
    handle: (event, call) => {
      seen.push(event)
      calls.push(call)
    },
    onReport: (report) => reports.push(report),
    ...change,
    limits: { ...QUICK, ...change.limits },
  }
  const packages = () => seen.map(({ package_id }) => package_id)
  const reported = (kind: ReceiverReport['kind']) => reports.filter((report) => report.kind === kind)
  return { seen, calls, reports, options, packages, reported }
}

test('[EVT-14][EVT-10] without an address an agent polls: all of it, in order, page by page, once', async () => {
  const { agent, send } = await startStream(world)
  const { options, packages, seen, calls } = observed({ limits: { pageItems: 3 } })
  const sent = await send(7)
  {
    await using receiver = createReceiver(agent, options)
    await receiver.start()
    await until('seven events', () => seen.length >= 7)
    sent.push(...(await send(2)))
    await until('two more', () => seen.length >= 9)
    assert.equal((await receiver.status()).lastContiguousSequence, 9)
  }
  assert.deepEqual(packages(), sent)
  assert.deepEqual(
    seen.map(({ sequence }) => sequence),
    [1, 2, 3, 4, 5, 6, 7, 8, 9],
  )
  assert.ok(calls.every(({ key, attempt }, i) => key === seen[i]?.event_id && attempt === 1))
  // The same inbox, later: nothing comes twice.
  sent.push(...(await send(1)))
  await using again = createReceiver(agent, options)
  await again.start()
  await until('the tenth', () => seen.length >= 10)
  await again.poll()
  assert.deepEqual(packages(), sent)
})

test('[EVT-11] what was polled and stored is acknowledged, once each, with the mark of its page', async () => {
  const { agent, send } = await startStream(world)
  const { options, seen, reported } = observed({ limits: { pageItems: 2 } })
  await send(5)
  await using receiver = createReceiver(agent, options)
  await receiver.start()
  const acknowledged = () => world.sql<{ body: string }[]>`
    select body from notification_acknowledgement where organization_id = ${agent.identity.organizationId}`
  await until('five acknowledgements', async () => (await acknowledged()).length === 5)
  const rows = (await acknowledged()).map(({ body }) => JSON.parse(body) as Record<string, unknown>)
  const marks = new Map(rows.map((row) => [row['event_id'], row['last_contiguous_sequence']]))
  assert.deepEqual(
    seen.map(({ event_id }) => marks.get(event_id)),
    [2, 2, 4, 4, 5],
  )
  assert.ok(rows.every((row) => row['disposition'] === 'stored'))
  await until('none is open', async () => (await options.inbox.unacknowledged(9)).length === 0)
  assert.deepEqual(reported('trouble'), [])
})

test('events that are not wanted are processed without a call of the handler', async () => {
  const { agent, send } = await startStream(world)
  const sent = await send(4)
  const { options, packages } = observed({ wants: (event) => event.sequence % 2 === 0 })
  await using receiver = createReceiver(agent, options)
  await receiver.start()
  await until('all are processed', async () => (await options.inbox.list('processed', 9)).length === 4)
  assert.deepEqual(packages(), [sent[1], sent[3]])
})

test('[EVT-14] events that fail are tried again, then set aside with their reason, and hold up nothing', async () => {
  const { agent, send } = await startStream(world)
  const sent = await send(4)
  let isMended = false
  const attempts: number[] = []
  const { options, packages, seen, reported } = observed({
    limits: { handlerAttempts: 3 },
    handle: (event, { attempt }) => {
      if (event.package_id === sent[1] && !isMended) {
        attempts.push(attempt)
        throw new RangeError('the plan has no such site')
      }
      seen.push(event)
    },
  })
  await using receiver = createReceiver(agent, options)
  await receiver.start()
  await until('the others', () => seen.length >= 3)
  assert.deepEqual(packages(), [sent[0], sent[2], sent[3]])
  assert.deepEqual(attempts, [1, 2, 3])
  const [aside, ...more] = await receiver.setAside()
  assert.deepEqual([aside?.reason, more], ['RangeError: the plan has no such site', []])
  assert.deepEqual([reported('handler_failed').length, reported('set_aside').length], [2, 1])
  isMended = true
  assert.equal(await receiver.retrySetAside('evt_none'), false)
  assert.equal(await receiver.retrySetAside(aside?.eventId ?? ''), true)
  await until('it too', () => seen.length >= 4)
  assert.equal(packages()[3], sent[1])
  assert.deepEqual(await receiver.setAside(), [])
})

test('an event whose handling ends the process every time is set aside as well', async () => {
  const { agent, send } = await startStream(world)
  await send(2)
  const { options, seen } = observed({ limits: { handlerAttempts: 3 } })
  const receiver = createReceiver(agent, options)
  await receiver.poll()
  const first = await options.inbox.next()
  assert.ok(first)
  // Three calls that were begun and never ended: what three crashes leave behind.
  const over = new Date(0).toISOString()
  for (let crash = 0; crash < 3; crash++)
    await options.inbox.beginAttempt(first.eventId, { holder: `crashed_${crash}`, now: over, until: over })
  await receiver.start()
  await until('the second', () => seen.length === 1)
  await receiver.stop()
  assert.equal(seen[0]?.sequence, 2)
  assert.match((await receiver.setAside())[0]?.reason ?? '', /ever returned/)
})

test('a handler that takes too long is reported, counted and abandoned', async () => {
  const { agent, send } = await startStream(world)
  const [slow] = await send(2)
  let wasTold = 0
  const { options, seen } = observed({
    limits: { handlerMs: 20, handlerAttempts: 2 },
    handle: async (event, { signal }) => {
      signal.addEventListener('abort', () => wasTold++)
      if (event.package_id === slow) await new Promise(() => undefined)
      seen.push(event)
    },
  })
  await using receiver = createReceiver(agent, options)
  await receiver.start()
  await until('the next', () => seen.length === 1)
  assert.equal(wasTold, 2)
  assert.match((await receiver.setAside())[0]?.reason ?? '', /^timed_out: /)
})

test('stopping tells the handler, waits for it, and does not count what it broke off', async () => {
  const { agent, send } = await startStream(world)
  await send(1)
  let mode: 'break' | 'finish' = 'break'
  let begun = 0
  const { options } = observed({
    handle: async (_event, { signal }) => {
      begun++
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      if (mode === 'break') throw signal.reason
      await sleep(20)
    },
  })
  const receiver = createReceiver(agent, options)
  await receiver.start()
  await receiver.start()
  await until('the first call', () => begun === 1)
  await receiver.stop()
  assert.equal((await options.inbox.next())?.attempts, 0)
  mode = 'finish'
  await receiver.start()
  await until('the second call', () => begun === 2)
  await receiver.stop()
  await receiver.stop()
  const { pending } = await receiver.status()
  assert.deepEqual([pending, begun], [0, 2])
})

test('[EVT-14] an effect that is returned happens with the mark, or not at all', async () => {
  const { agent, send } = await startStream(world)
  const sent = await send(3)
  const effects: string[] = []
  let failures = 0
  const { options } = observed({
    handle: async ({ package_id }, { attempt }) => {
      return () => {
        if (package_id === sent[1] && attempt === 1) {
          failures++
          throw new Error('the disk is full')
        }
        effects.push(package_id)
      }
    },
  })
  await using receiver = createReceiver(agent, options)
  await receiver.start()
  await until('three effects', () => effects.length >= 3)
  assert.deepEqual([effects, failures], [sent, 1])
})

test('[EVT-10] events that expired before they were read are a reported gap, and the rest is processed', async () => {
  const { agent, send, cut } = await startStream(world)
  await send(2)
  const { options, seen, reports } = observed()
  const receiver = createReceiver(agent, options)
  await receiver.start()
  await until('two events', () => seen.length === 2)
  await receiver.stop()
  await send(3)
  await cut(4)
  await receiver.start()
  await until('the fifth', () => seen.length === 3)
  await receiver.stop()
  assert.deepEqual(
    seen.map(({ sequence }) => sequence),
    [1, 2, 5],
  )
  const gaps = reports.flatMap((report) => (report.kind === 'gap' ? [report.gap] : []))
  assert.deepEqual(
    gaps.map(({ firstSequence, lastSequence, reason }) => [firstSequence, lastSequence, reason]),
    [[3, 4, 'expired']],
  )
  assert.deepEqual((await receiver.status()).gaps, gaps)
})

test('[EVT-10] an agent that comes late begins where the stream does; an unknown cursor restarts the stream', async () => {
  const { agent, send, cut } = await startStream(world)
  await send(3)
  await cut(2)
  const { options, seen, reports } = observed()
  const receiver = createReceiver(agent, options)
  await receiver.poll()
  const gaps = reports.flatMap((report) => (report.kind === 'gap' ? [report.gap.reason] : []))
  assert.deepEqual(gaps, ['before_first_poll'])
  await options.inbox.storePage({
    events: [],
    nextCursor: 'made-up',
    storedAt: new Date().toISOString(),
    gapReason: 'absent',
  })
  await send(1)
  await receiver.poll()
  await receiver.start()
  await until('both', () => seen.length === 2)
  await receiver.stop()
  assert.deepEqual((await receiver.status()).gaps.length, 1)
})

test('[EVT-14] while the exchange is away the receiver waits, says so, and then goes on', async () => {
  let isDown = false
  const agent = await startAgent(world, 'away', {
    fetch: (url, init) => (isDown ? Promise.reject(new TypeError('fetch failed')) : fetch(url, init)),
    limits: { attempts: 1 },
  })
  const { options, seen, reported } = observed({ publicUrl: 'https://agent.example/hooks' })
  isDown = true
  // An event that came before the restart is handled without the exchange.
  const stored = envelope(1, { organization_id: agent.identity.organizationId })
  await options.inbox.store(incoming(stored), 'webhook', new Date().toISOString())
  await using receiver = createReceiver(agent, options)
  await receiver.start()
  await until('the stored event', () => seen.length === 1)
  await until('trouble', () => reported('trouble').length >= 3)
  const during = new Set(
    reported('trouble').map((report) => (report.kind === 'trouble' ? report.during : '')),
  )
  assert.ok(during.has('poll') && during.has('key_refresh'), [...during].join())
  isDown = false
  await until('a poll that works', async () => (await receiver.status()).cursor !== undefined)
})

test('[EVT-15] the endpoint is registered once over restarts and lost answers, and the keys are pinned before', async () => {
  let loseAnswer = false
  const calls: string[] = []
  const agent = await startAgent(world, 'hooked', {
    fetch: async (url, init) => {
      const { pathname } = new URL(url)
      calls.push(pathname)
      const response = await fetch(url, init)
      if (!loseAnswer || pathname !== '/v1/webhook-endpoints') return response
      await response.arrayBuffer()
      throw new TypeError('fetch failed')
    },
    limits: { attempts: 1 },
  })
  const { options } = observed()
  const endpoints = () => world.sql`
    select webhook_endpoint_id from webhook_endpoint where organization_id = ${agent.identity.organizationId}`
  const url = 'https://agent.example/hooks'
  loseAnswer = true
  await assert.rejects(createReceiver(agent, options).ensureEndpoint(url), { code: 'exchange_unreachable' })
  loseAnswer = false
  assert.ok(
    calls.indexOf('/v1/directory/notification-keys') < calls.indexOf('/v1/webhook-endpoints'),
    calls.join(),
  )
  const first = await createReceiver(agent, options).ensureEndpoint(url)
  const receiver = createReceiver(agent, options)
  assert.deepEqual(await receiver.ensureEndpoint(url), first)
  assert.equal((await endpoints()).length, 1)
  const pinned = (await receiver.keys.pins())?.keys.map(({ key_id }) => key_id)
  assert.ok(pinned?.includes(first.signing_key_id))
  // Another intent is another endpoint; so is one that is asked for again.
  const filtered = await receiver.ensureEndpoint(url, { eventTypes: ['package.accepted'] })
  const again = await receiver.ensureEndpoint(url, { eventTypes: ['package.accepted'], again: true })
  assert.equal(new Set([first, filtered, again].map((each) => each.webhook_endpoint_id)).size, 3)
  assert.equal((await endpoints()).length, 3)
  await assert.rejects(receiver.ensureEndpoint('/hooks'), { code: 'input_invalid' })
})

test('an inbox of another agent’s stream is not touched', async () => {
  const [one, other] = [await startAgent(world, 'one'), await startAgent(world, 'other')]
  const { options } = observed()
  await createReceiver(one, options).poll()
  const receiver = createReceiver(other, options)
  await assert.rejects(receiver.start(), { code: 'inbox_unavailable' })
  const init = { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{}' }
  const { status } = await receiver.handler(new Request('https://agent.example', init))
  assert.equal(status, 503)
})

test('processed events leave the inbox after their time', async () => {
  const { agent, send } = await startStream(world)
  await send(3)
  const { options, seen } = observed({ limits: { processedMs: 1, pruneMs: 20 } })
  await using receiver = createReceiver(agent, options)
  await receiver.start()
  await until('three events', () => seen.length === 3)
  await until('an empty inbox', async () => (await options.inbox.list('processed', 9)).length === 0)
  await options.inbox.dropCursor()
  await receiver.poll()
  assert.equal((await receiver.status()).pending, 0)
  assert.equal(seen.length, 3)
})

test('[EVT-14] trouble with the inbox is waited out and counts against no event', async () => {
  const { agent, send } = await startStream(world)
  await send(2)
  const inbox = new MemoryInbox()
  const trouble = () => Promise.reject(new ExchangeError('inbox_unavailable', { retryable: true }))
  const [next, finish] = [inbox.next.bind(inbox), inbox.finish.bind(inbox)]
  let failures = 6
  inbox.next = () => (failures-- > 3 ? trouble() : next())
  inbox.finish = (...values) => (failures-- > 0 ? trouble() : finish(...values))
  const { options, seen, calls, reported } = observed({ inbox, limits: { handlerAttempts: 1 } })
  await using receiver = createReceiver(agent, options)
  await receiver.start()
  await until('both', async () => (await receiver.status()).cursor && (await receiver.status()).pending === 0)
  assert.deepEqual([(await receiver.setAside()).length, reported('handler_failed').length], [0, 0])
  assert.ok(reported('trouble').length >= 4)
  assert.deepEqual(new Set(seen.map(({ sequence }) => sequence)), new Set([1, 2]))
  assert.ok(calls.every(({ attempt }) => attempt === 1))
})

test('a conflict is reported, by webhook and by poll', async () => {
  const { agent, send } = await startStream(world)
  await send(1)
  const { options, reported } = observed()
  const other = envelope(1, { organization_id: agent.identity.organizationId })
  await options.inbox.store(incoming(other), 'webhook', new Date().toISOString())
  await createReceiver(agent, options).poll()
  assert.equal(reported('event_conflict').length, 1)
})
