import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { NotificationEnvelope } from '@agent-exchange/protocol'
import { startWorld, until } from '@agent-exchange/testkit'
import fc from 'fast-check'
import { openSqliteInbox } from '../node/sqlite-inbox.ts'
import { directoryOf, requestOf, signedDelivery, testKey, URL_OF_AGENT } from './delivery.fixture.ts'
import type { Inbox } from './inbox.ts'
import { MemoryInbox } from './memory-inbox.ts'
import { createReceiver, type Receiver } from './receiver.ts'
import type { ReceiverReport } from './reports.ts'
import { startStream } from './stream.fixture.ts'

/**
 * A real stream on a real exchange, whose events reach the real handler in whatever way a network can think of.
 * The deliveries are signed here, by a key that stands in the directory beside the exchange's own, because what
 * is shuffled, lost and repeated has to be in our hands.
 */
const EVENTS = 8
const world = await startWorld()
after(() => world[Symbol.asyncDispose]())
const folder = mkdtempSync(join(tmpdir(), 'aex-arrival-'))
after(() => rmSync(folder, { recursive: true }))
const { agent, send } = await startStream(world)
await send(EVENTS)
const key = await testKey('key_courier')
const { items } = await agent.connection.call('listNotifications')
/** Polling works only when a test says so; otherwise what webhooks bring is all there is. */
const polling = { works: false }
const context = {
  ...agent,
  connection: {
    ...agent.connection,
    call: ((operation, options) => {
      if (operation === 'getNotificationSigningKeys') return Promise.resolve(directoryOf([key]))
      if (operation === 'listNotifications' && !polling.works) return Promise.reject(new Error('not now'))
      return agent.connection.call(operation, options)
    }) as typeof agent.connection.call,
  },
}

type Happening =
  /** Number `event` arrives, this often, perhaps altered on its way. */
  | { readonly kind: 'deliver'; readonly event: number; readonly times: number; readonly altered: boolean }
  | { readonly kind: 'poll' | 'restart' | 'pause' }

const happening: fc.Arbitrary<Happening> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('deliver' as const),
      event: fc.nat(EVENTS - 1),
      times: fc.integer({ min: 1, max: 3 }),
      altered: fc.boolean(),
    }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constantFrom('poll' as const, 'restart' as const, 'pause' as const) }),
  },
)

async function deliver(
  handler: (request: Request) => Promise<Response>,
  event: NotificationEnvelope,
  { times, altered }: { times: number; altered: boolean },
): Promise<void> {
  const created = new Date(world.clock.now())
  const attempts = Array.from({ length: times }, async (_, attempt) => {
    const signed = await signedDelivery(key, event, { created, attempt: attempt + 1 })
    const body = altered ? new Uint8Array([...signed.body, 0x20]) : signed.body
    const { status } = await handler(requestOf({ ...signed, body }))
    assert.equal(status, altered ? 400 : 204)
  })
  await Promise.all(attempts)
}

async function pollWith(receiver: Receiver): Promise<void> {
  polling.works = true
  await receiver.poll()
  polling.works = false
}

/** Lets everything happen, then lets the receiver come to rest, and returns the effects in their order. */
async function live(inbox: Inbox, happenings: readonly Happening[], failEvery: number): Promise<number[]> {
  const effects: number[] = []
  const reports: ReceiverReport[] = []
  let calls = 0
  const start = async () => {
    const receiver = createReceiver(context, {
      inbox,
      publicUrl: URL_OF_AGENT,
      // Some calls fail before their effect; the effect itself comes with the mark.
      handle: async ({ sequence }) => {
        if (++calls % failEvery === 0) throw new Error('a bad moment')
        return () => void effects.push(sequence)
      },
      onReport: (report) => reports.push(report),
      limits: {
        gapPatienceMs: 1,
        handlerRetryMs: 1,
        handlerAttempts: 50,
        idleMs: 20,
        pollRetryMs: 60_000,
        safetyPollMs: 60_000,
        pageItems: 3,
      },
    })
    await receiver.start()
    return receiver
  }
  let receiver = await start()
  for (const each of happenings) {
    const event = each.kind === 'deliver' ? items[each.event] : undefined
    if (each.kind === 'deliver' && event) await deliver(receiver.handler, event, each)
    else if (each.kind === 'poll') await pollWith(receiver)
    else if (each.kind === 'pause') await new Promise((resolve) => setTimeout(resolve, 5))
    else {
      await receiver.stop()
      receiver = await start()
    }
  }
  await pollWith(receiver)
  await until('rest', async () => (await receiver.status()).pending === 0)
  await receiver.stop()
  const failures = reports.filter(
    ({ kind }) => kind === 'gap' || kind === 'event_conflict' || kind === 'set_aside',
  )
  assert.deepEqual(failures, [])
  return effects
}

test('[EVT-14] shuffled, repeated, lost, altered: in order, exactly once by effect, and nothing is lost', async () => {
  let files = 0
  const all = items.map(({ sequence }) => sequence)
  assert.equal(all.length, EVENTS)
  await fc.assert(
    fc.asyncProperty(
      fc.array(happening, { maxLength: 20 }),
      fc.integer({ min: 2, max: 5 }),
      fc.boolean(),
      async (happenings, failEvery, onDisk) => {
        const inbox = onDisk ? openSqliteInbox(join(folder, `${files++}.db`)) : new MemoryInbox()
        try {
          assert.deepEqual(await live(inbox, happenings, failEvery), all)
        } finally {
          await inbox.close()
        }
      },
    ),
    { numRuns: 40 },
  )
})
