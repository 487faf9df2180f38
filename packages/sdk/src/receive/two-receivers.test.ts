import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { startWorld, until } from '@agent-exchange/testkit'
import { openSqliteInbox } from '../node/sqlite-inbox.ts'
import { createReceiver } from './receiver.ts'
import { startStream } from './stream.fixture.ts'

const world = await startWorld()
after(() => world[Symbol.asyncDispose]())

test('[EVT-14] of two receivers on one inbox file, one handles an event, and the other takes over after it', async (t) => {
  const { agent, send } = await startStream(world)
  const folder = mkdtempSync(join(tmpdir(), 'aex-two-receivers-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const sent = await send(3)
  const calls: string[] = []
  const reports: string[] = []
  let release = () => {}
  const held = new Promise<void>((resolve) => (release = resolve))
  await using open = new AsyncDisposableStack()
  const opened = ['one', 'other'].map((name) => {
    const inbox = open.use(openSqliteInbox(join(folder, 'inbox.db')))
    const receiver = createReceiver(agent, {
      inbox,
      limits: { pollMs: 30, idleMs: 50 },
      handle: async ({ package_id }) => {
        calls.push(`${name} ${package_id}`)
        await held
      },
      onReport: ({ kind }) => reports.push(kind),
    })
    return { inbox, receiver: open.use(receiver) }
  })
  open.defer(release)
  await Promise.all(opened.map(({ receiver }) => receiver.start()))
  await until('one of them waits', () => reports.includes('handled_elsewhere'))
  assert.equal(calls.length, 1)
  release()
  await until('all events', async () => (await opened[0]?.inbox.position())?.pending === 0)
  assert.deepEqual(
    calls.map((call) => call.split(' ')[1]),
    sent,
  )
})

test('[EVT-10] an event that another process stored lets the receiver poll for the ones before it', async (t) => {
  const { agent, send } = await startStream(world, 'gap')
  const folder = mkdtempSync(join(tmpdir(), 'aex-two-receivers-'))
  t.after(() => rmSync(folder, { recursive: true }))
  await using open = new AsyncDisposableStack()
  const [inbox, otherInbox] = [1, 2].map(() => open.use(openSqliteInbox(join(folder, 'inbox.db'))))
  assert.ok(inbox && otherInbox)
  const handled: string[] = []
  const receiver = createReceiver(agent, {
    inbox,
    limits: { pollMs: 600_000, idleMs: 600_000, gapPatienceMs: 10 },
    handle: ({ package_id }) => void handled.push(package_id),
  })
  open.use(receiver)
  await send(1)
  await receiver.start()
  await until('the first poll', () => handled.length === 1)
  await send(3)
  const { items } = await agent.connection.call('listNotifications', { query: { limit: 10 } })
  const last = items.at(-1)
  assert.ok(last)
  const { event_id: eventId, notification_id: notificationId, sequence } = last
  const event = { eventId, notificationId, sequence, body: JSON.stringify(last) }
  assert.equal(await otherInbox.store(event, 'webhook', new Date().toISOString()), 'new')
  receiver.wake()
  await until('the events before it', () => handled.length === 4, { limitMs: 10_000 })
})
