import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Inbox, IncomingEvent, PageToStore } from './inbox.ts'

export const AT = '2026-03-01T12:00:00.000Z'
export const LATER = '2026-04-01T12:00:00.000Z'
export const event = (sequence: number, eventId = `evt_${sequence}`): IncomingEvent => ({
  eventId,
  notificationId: `ntf_${sequence}`,
  sequence,
  body: `{"event_id":"${eventId}","sequence":${sequence}}`,
})
export const page = (sequences: readonly number[], nextCursor: string): PageToStore => ({
  events: sequences.map((sequence) => event(sequence)),
  nextCursor,
  storedAt: AT,
  gapReason: 'absent',
})
export const lease = (holder = 'receiver_a', now = AT, until = LATER) => ({ holder, now, until })
export const ids = (events: readonly { eventId: string }[]) => events.map(({ eventId }) => eventId)

/** Processes what may be processed, and returns it in the order in which it came. */
export async function drain(inbox: Inbox): Promise<number[]> {
  const order: number[] = []
  for (let next = await inbox.next(); next; next = await inbox.next()) {
    order.push(next.sequence)
    assert.equal(await inbox.finish(next.eventId, AT), true)
  }
  return order
}

/** Every kind of inbox keeps these promises. */
export function testInbox(kind: string, open: () => Inbox | Promise<Inbox>): void {
  test(`${kind}: events are listed from either end`, async () => {
    const inbox = await open()
    await inbox.storePage(page([1, 2, 3], 'c3'))
    assert.deepEqual(ids(await inbox.list('pending', 2)), ['evt_1', 'evt_2'])
    assert.deepEqual(ids(await inbox.list('pending', 2, 'newest')), ['evt_3', 'evt_2'])
  })

  test(`[EVT-14] ${kind}: a subject is finished with its event and its effect, or not at all`, async () => {
    const inbox = await open()
    for (const sequence of [1, 2]) await inbox.store(event(sequence), 'webhook', AT)
    assert.equal(await inbox.hasFinished('pkg_1'), false)
    const failing = () => {
      throw new RangeError('no such site')
    }
    await assert.rejects(inbox.finish('evt_1', AT, failing, 'pkg_1'), RangeError)
    assert.equal(await inbox.hasFinished('pkg_1'), false)
    await inbox.finish('evt_1', AT, undefined, 'pkg_1')
    assert.equal(await inbox.finish('evt_2', AT, undefined, 'pkg_1'), true)
    assert.equal(await inbox.hasFinished('pkg_1'), true)
    assert.equal(await inbox.hasFinished('pkg_2'), false)
    await inbox.prune(LATER, 9)
    assert.equal(await inbox.hasFinished('pkg_1'), true)
  })

  test(`[EVT-14] ${kind}: an event is taken once; another under its id or sequence is a conflict`, async () => {
    const inbox = await open()
    assert.equal(await inbox.store(event(1), 'webhook', AT), 'new')
    assert.equal(await inbox.store(event(1), 'webhook', AT), 'duplicate')
    assert.equal(await inbox.store({ ...event(1), body: '{}' }, 'webhook', AT), 'conflict')
    assert.equal(await inbox.store(event(1, 'evt_other'), 'webhook', AT), 'conflict')
    // Its id with another number, beside an event that has that number.
    await inbox.store(event(2), 'webhook', AT)
    assert.equal(await inbox.store({ ...event(1), sequence: 2 }, 'webhook', AT), 'duplicate')
    assert.equal(await inbox.store({ ...event(2, 'evt_1'), body: 'x' }, 'webhook', AT), 'conflict')
    assert.deepEqual(await drain(inbox), [1, 2])
    assert.equal(await inbox.store(event(1), 'webhook', AT), 'duplicate')
    assert.equal(await inbox.next(), undefined)
  })

  test(`[EVT-14] ${kind}: out of order is stored, and waits for what is missing`, async () => {
    const inbox = await open()
    for (const sequence of [3, 1, 5]) await inbox.store(event(sequence), 'webhook', AT)
    assert.deepEqual(await drain(inbox), [1])
    await inbox.store(event(2), 'webhook', AT)
    assert.deepEqual(await drain(inbox), [2, 3])
    const { lastContiguousSequence, highestSequence, pending } = await inbox.position()
    assert.deepEqual([lastContiguousSequence, highestSequence, pending], [3, 5, 1])
    await inbox.store(event(4), 'webhook', AT)
    assert.deepEqual(await drain(inbox), [4, 5])
  })

  test(`[EVT-14] ${kind}: a page and its cursor are stored together; holes in it are gaps`, async () => {
    const inbox = await open()
    await inbox.store(event(6), 'webhook', AT)
    const result = await inbox.storePage(page([3, 4, 7], 'c1'))
    assert.equal(result.stored, 3)
    assert.deepEqual(
      result.gaps.map(({ firstSequence, lastSequence }) => [firstSequence, lastSequence]),
      [
        [1, 2],
        [5, 5],
      ],
    )
    assert.deepEqual(await inbox.gaps(), result.gaps)
    const { cursor, polledThrough, lastContiguousSequence } = await inbox.position()
    assert.deepEqual([cursor, polledThrough, lastContiguousSequence], ['c1', 7, 7])
    assert.deepEqual(await drain(inbox), [3, 4, 6, 7])
    // What was given up turns up after all: it is taken, and is missing no longer.
    assert.equal(await inbox.store(event(1), 'webhook', AT), 'new')
    assert.equal(await inbox.store(event(5), 'webhook', AT), 'new')
    assert.deepEqual(await drain(inbox), [1, 5])
    assert.deepEqual(
      (await inbox.gaps()).map(({ firstSequence, lastSequence }) => [firstSequence, lastSequence]),
      [[2, 2]],
    )
    // A page that was read earlier, by somebody slower, takes the cursor nowhere back.
    await inbox.storePage(page([3, 4], 'c0'))
    assert.equal((await inbox.position()).cursor, 'c1')
    // The last page is empty and has a cursor too.
    await inbox.storePage(page([], 'c2'))
    assert.equal((await inbox.position()).cursor, 'c2')
    await inbox.dropCursor()
    assert.equal((await inbox.position()).cursor, undefined)
    assert.equal((await inbox.position()).polledThrough, 7)
  })

  test(`[EVT-14] ${kind}: a conflict on a page is reported and does not block the rest`, async () => {
    const inbox = await open()
    await inbox.store({ ...event(2), body: 'something else' }, 'webhook', AT)
    const result = await inbox.storePage(page([1, 2, 3], 'c'))
    assert.deepEqual([ids(result.conflicts), result.stored], [['evt_2'], 2])
    assert.deepEqual(await drain(inbox), [1, 2, 3])
  })

  test(`[EVT-14] ${kind}: mark and effect go together, and an effect happens once`, async () => {
    const inbox = await open()
    await inbox.store(event(1), 'webhook', AT)
    let effects = 0
    const failing = () => {
      effects += 10
      throw new RangeError('no')
    }
    await assert.rejects(inbox.finish('evt_1', AT, failing), RangeError)
    assert.equal((await inbox.next())?.eventId, 'evt_1')
    assert.equal(await inbox.finish('evt_1', AT, () => void effects++), true)
    assert.equal(await inbox.finish('evt_1', AT, () => void effects++), false)
    assert.equal(await inbox.finish('evt_none', AT, () => void effects++), false)
    assert.equal(effects, 11)
  })

  test(`${kind}: attempts are counted, a broken-off one is not`, async () => {
    const inbox = await open()
    await inbox.store(event(1), 'webhook', AT)
    const begin = () => inbox.beginAttempt('evt_1', lease())
    assert.deepEqual([await begin(), await begin()], [{ attempt: 1 }, { attempt: 2 }])
    await inbox.cancelAttempt('evt_1')
    assert.equal((await inbox.next())?.attempts, 1)
    assert.deepEqual(await begin(), { attempt: 2 })
    await inbox.finish('evt_1', AT)
    assert.equal(await begin(), undefined, 'nothing is handled that has ended')
  })

  test(`[EVT-14] ${kind}: one receiver at a time handles an event, and another after its lease ended`, async () => {
    const inbox = await open()
    await inbox.storePage(page([1, 2, 3], 'c'))
    const [first, second] = [lease('receiver_a'), lease('receiver_b')]
    assert.deepEqual(await inbox.beginAttempt('evt_1', first), { attempt: 1 })
    const refused = await inbox.beginAttempt('evt_1', second)
    assert.ok(refused && 'heldBy' in refused && refused.heldBy !== '')
    assert.equal((await inbox.next())?.attempts, 1, 'a refused call is not counted')
    // The lease of another one is not ended by this one.
    await inbox.endLease('receiver_b')
    assert.deepEqual(await inbox.beginAttempt('evt_1', second), refused)
    await inbox.endLease('receiver_a')
    assert.deepEqual(await inbox.beginAttempt('evt_1', second), { attempt: 2 })
    await inbox.finish('evt_1', AT)
    await inbox.endLease('receiver_b')
    // Both ends of an event end its lease.
    assert.deepEqual(await inbox.beginAttempt('evt_2', first), { attempt: 1 })
    await inbox.setAside('evt_2', AT, 'r')
    await inbox.endLease('receiver_a')
    assert.deepEqual(await inbox.beginAttempt('evt_3', second), { attempt: 1 })
    // A holder that does not answer any more loses it when its time is over.
    assert.deepEqual(await inbox.beginAttempt('evt_3', { ...first, now: LATER }), { attempt: 2 })
  })

  test(`${kind}: what is set aside holds up nothing, keeps its reason, and comes back when asked`, async () => {
    const inbox = await open()
    await inbox.storePage(page([1, 2], 'c'))
    await inbox.beginAttempt('evt_1', lease())
    await inbox.setAside('evt_1', AT, 'too hard')
    assert.deepEqual(await drain(inbox), [2])
    const [aside] = await inbox.list('set_aside', 10)
    assert.deepEqual([aside?.reason, aside?.finishedAt, aside?.source], ['too hard', AT, 'poll'])
    assert.equal((await inbox.position()).setAside, 1)
    assert.equal(await inbox.store(event(1), 'webhook', AT), 'duplicate')
    assert.equal(await inbox.retry('evt_2'), false)
    assert.equal(await inbox.retry('evt_1'), true)
    assert.deepEqual([(await inbox.next())?.attempts, (await inbox.next())?.reason], [0, undefined])
    await inbox.setAside('evt_2', AT, 'processed already')
    assert.deepEqual(await drain(inbox), [1])
    assert.deepEqual(await inbox.list('set_aside', 10), [])
  })

  test(`[EVT-14] ${kind}: what was removed after processing is still known as processed`, async () => {
    const inbox = await open()
    await inbox.storePage(page([1, 2, 4, 5], 'c'))
    await inbox.setAside('evt_2', AT, 'r')
    await drain(inbox)
    assert.equal(await inbox.prune(LATER, 10), 0, 'not before the exchange has the acknowledgement')
    await inbox.markAcknowledged(['evt_1', 'evt_2', 'evt_4', 'evt_5'], AT)
    assert.equal(await inbox.prune(AT, 10), 0, 'not before its time')
    assert.equal(await inbox.prune(LATER, 2), 2)
    assert.equal(await inbox.prune(LATER, 2), 1)
    assert.deepEqual(ids(await inbox.list('processed', 10)), [])
    assert.deepEqual(ids(await inbox.list('set_aside', 10)), ['evt_2'])
    for (const sequence of [1, 2, 4, 5]) {
      assert.equal(await inbox.store(event(sequence), 'webhook', AT), 'duplicate', String(sequence))
    }
    // Number 3 was never there: when it comes, it is new.
    assert.equal(await inbox.store(event(3), 'webhook', AT), 'new')
    assert.deepEqual(await drain(inbox), [3])
    await inbox.prune(LATER, 10)
    assert.equal(await inbox.store(event(3), 'webhook', AT), 'duplicate')
    // Number 6 came by webhook alone: until polling has passed it, it stays.
    assert.equal(await inbox.store(event(6), 'webhook', AT), 'new')
    await drain(inbox)
    assert.equal(await inbox.prune(LATER, 10), 0)
    assert.deepEqual(await inbox.storePage(page([6, 7], 'd')), { stored: 1, gaps: [], conflicts: [] })
    assert.equal(await inbox.prune(LATER, 10), 1)
  })

  test(`[EVT-11] ${kind}: polled events wait for their acknowledgement, with the mark of their storing`, async () => {
    const inbox = await open()
    await inbox.store(event(1), 'webhook', AT)
    await inbox.storePage(page([1, 2, 3], 'c'))
    await inbox.storePage(page([4], 'd'))
    const open3 = await inbox.unacknowledged(10)
    assert.deepEqual(
      open3.map(({ eventId, notificationId, storedAt, lastContiguousSequence }) => [
        eventId,
        notificationId,
        storedAt,
        lastContiguousSequence,
      ]),
      [
        ['evt_2', 'ntf_2', AT, 3],
        ['evt_3', 'ntf_3', AT, 3],
        ['evt_4', 'ntf_4', AT, 4],
      ],
    )
    assert.deepEqual(ids(await inbox.unacknowledged(1)), ['evt_2'])
    await inbox.markAcknowledged(['evt_2', 'evt_4'], AT)
    assert.deepEqual(ids(await inbox.unacknowledged(10)), ['evt_3'])
  })

  test(`${kind}: an inbox belongs to one stream, and keeps small texts`, async () => {
    const inbox = await open()
    const stream = { exchange: 'https://exchange.example', organizationId: 'org_a' }
    await inbox.bind(stream)
    await inbox.bind(stream)
    await assert.rejects(inbox.bind({ ...stream, organizationId: 'org_b' }), { code: 'inbox_unavailable' })
    await assert.rejects(inbox.bind({ ...stream, exchange: 'https://x.example' }), {
      code: 'inbox_unavailable',
    })
    assert.equal(await inbox.readValue('keys'), undefined)
    await inbox.writeValue('keys', '1')
    await inbox.writeValue('keys', '2')
    // A name of the inbox's own is no name of a text.
    await inbox.writeValue('cursor', 'mine')
    assert.equal(await inbox.readValue('keys'), '2')
    assert.equal((await inbox.position()).cursor, undefined)
  })
}
