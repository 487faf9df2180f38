import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { gatewayDatabase } from '../stores/gateway-database.fixture.ts'
import { testContents } from '../content/contents.fixture.ts'
import { addItem, endTimes } from './inbox.fixture.ts'
import { failItem, finishItem } from './inbox-items.ts'
import { openLeaseWaiters } from './lease-waiters.ts'

const opened = await gatewayDatabase()
const { db } = opened
const waiters = await openLeaseWaiters({ db, contents: testContents(db) })
after(async () => {
  waiters.stop()
  await opened[Symbol.asyncDispose]()
})
beforeEach(() => db`delete from inbox_item`)

const request = {
  agentIds: ['agent_a'],
  max: 5,
  visibilitySeconds: 60,
  by: 'system_1',
  reader: () => ({ kind: 'system', id: 'system_1', purpose: 'test' }) as const,
}

/** A request that nothing wakes looks again after five seconds. */
const SECONDS_OF_ONE_LOOK = 4

test('a request that waits gets an item as soon as it is committed', async () => {
  const waiting = waiters.take(request, { seconds: 30 })
  const item = await addItem(db)
  assert.deepEqual(
    (await waiting)?.map(({ packageId }) => packageId),
    [item.packageId],
  )
})

test('an item that this instance stored wakes a request without its notification', async () => {
  const { packageId } = await addItem(db)
  await db`update inbox_item set available_at = clock_timestamp() + interval '1 minute'`
  const waiting = waiters.take(request, { seconds: SECONDS_OF_ONE_LOOK })
  // The request has found nothing.
  await db`select pg_sleep(0.2)`
  await endTimes(db)
  waiters.onItem('agent_a')
  assert.deepEqual(
    (await waiting)?.map((item) => item.packageId),
    [packageId],
  )
})

test('an item that this instance stored wakes one request, as one of another instance does', async () => {
  const requests = Array.from({ length: 2 }, () =>
    waiters.take({ ...request, max: 1 }, { seconds: SECONDS_OF_ONE_LOOK }),
  )
  await addItem(db, {}, waiters)
  await Promise.race(requests)
  await db`select pg_sleep(0.2)`
  await addItem(db, {}, { ...waiters, instance: 'another', onItem: () => undefined })
  const taken = await Promise.all(requests)
  assert.deepEqual(
    taken.map((items) => items?.length),
    [1, 1],
  )
})

test('each of several requests that wait gets one of as many items, and none gets two', async () => {
  const requests = Array.from({ length: 3 }, () => waiters.take({ ...request, max: 1 }, { seconds: 30 }))
  const added = new Set<string>()
  for (let count = 0; count < 3; count++) added.add((await addItem(db)).packageId)
  const taken = (await Promise.all(requests)).map((items) => items?.map(({ packageId }) => packageId))
  assert.ok(taken.every((packageIds) => packageIds?.length === 1))
  assert.deepEqual(new Set(taken.flat()), added)
})

test('a request that waits gets the next item of a thread when the one before is done', async () => {
  await addItem(db, { threadId: 'thread' })
  const next = await addItem(db, { threadId: 'thread' })
  const [first] = (await waiters.take(request, { seconds: 0 })) ?? []
  assert.ok(first)
  const waiting = waiters.take(request, { seconds: 30 })
  await finishItem(db, { ...request, itemId: first.itemId, leaseToken: first.leaseToken })
  assert.deepEqual(
    (await waiting)?.map(({ packageId }) => packageId),
    [next.packageId],
  )
})

test('a request that waits gets a lease that ends unanswered, without a notification', async () => {
  await addItem(db)
  const [first] = (await waiters.take({ ...request, visibilitySeconds: 1 }, { seconds: 0 })) ?? []
  const [again] = (await waiters.take(request, { seconds: 30 })) ?? []
  assert.deepEqual([again?.itemId, again?.attempts], [first?.itemId, 2])
})

test('a wait ends with its time, with its caller, and does not hear of other agents', async () => {
  const caller = new AbortController()
  const waiting = waiters.take(request, { seconds: 30, signal: caller.signal })
  await addItem(db, { agentId: 'agent_b' })
  caller.abort()
  assert.deepEqual(await waiting, [])
  assert.deepEqual(await waiters.take(request, { seconds: 0 }), [])
  await addItem(db)
  const [item] = (await waiters.take(request, { seconds: 0 })) ?? []
  assert.ok(item)
  await failItem(db, { ...request, itemId: item.itemId, leaseToken: item.leaseToken }, 'later')
  assert.deepEqual(await waiters.take(request, { seconds: 1 }), [])
})
