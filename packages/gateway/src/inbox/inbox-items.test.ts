import assert from 'node:assert/strict'
import { after, beforeEach, test } from 'node:test'
import { deferToCommit } from '@agent-exchange/database'
import { gatewayDatabase } from '../stores/gateway-database.fixture.ts'
import type { ContentStore } from '../content/content-store.ts'
import { storeContent, testContents } from '../content/contents.fixture.ts'
import { addItem, endTimes } from './inbox.fixture.ts'
import type { LeasedItem } from './inbox-item.ts'
import {
  deleteFinishedItems,
  extendLease,
  failItem,
  finishItem,
  listSetAside,
  retrySetAside,
  takeItems,
} from './inbox-items.ts'
import { MAXIMUM_ATTEMPTS } from './inbox-limits.ts'

const opened = await gatewayDatabase()
const { db } = opened
after(() => opened[Symbol.asyncDispose]())
beforeEach(() => db`delete from inbox_item`)

const agentIds = ['agent_a']
const reader = () => ({ kind: 'system', id: 'system_1', purpose: 'test' }) as const
const take = (max = 10, agents = agentIds) =>
  takeItems(
    { db, contents: testContents(db) },
    { agentIds: agents, max, visibilitySeconds: 60, by: 'system_1', reader },
  )
const leaseOf = ({ itemId, leaseToken }: LeasedItem) => ({ agentIds, itemId, leaseToken })
const one = async () => {
  const [item] = await take(1)
  assert.ok(item)
  return item
}

test('competing consumers never take the same item', async () => {
  for (let count = 0; count < 30; count++) await addItem(db)
  const taken = (await Promise.all(Array.from({ length: 10 }, () => take(5)))).flat()
  assert.equal(new Set(taken.map(({ itemId }) => itemId)).size, taken.length)
  assert.equal(taken.length + (await take(30)).length, 30)
  const [row] = await db<{ count: number }[]>`
    select count(*)::int from inbox_item where lease_hash = sha256(convert_to(${taken[0]?.leaseToken ?? ''}, 'UTF8'))`
  assert.equal(row?.count, 5, 'the table holds the hash of the token of those that were taken together')
})

test('a thread has one lease at a time, and its items come in sequence', async () => {
  for (const sequence of [3, 1, 2])
    await addItem(db, { threadId: 'thread', sequence, packageId: `p${sequence}` })
  const order: number[] = []
  for (let count = 0; count < 3; count++) {
    const [first, ...others] = await take()
    assert.deepEqual(others, [])
    assert.ok(first)
    order.push(first.sequence)
    assert.deepEqual(await take(), [])
    assert.equal(await finishItem(db, leaseOf(first)), 'settled')
  }
  assert.deepEqual(order, [3, 1, 2], 'the first was alone when it became available')
  assert.deepEqual(await take(), [])
})

test('an item is not leased if the entry of its reading fails', async () => {
  const agentId = await opened.newAgent()
  const { packageId } = await addItem(db, { agentId })
  await storeContent(db, agentId, packageId)
  const open: ContentStore['open'] = (tx) => {
    const entry = tx`select 1 / 0`
    deferToCommit(tx, entry)
    return entry.then(() => 'gone')
  }
  const request = { agentIds: [agentId], max: 1, visibilitySeconds: 60, by: 'system_1', reader }
  await assert.rejects(takeItems({ db, contents: { open } }, request), { code: '22012' })
  const [item] = await take(1, [agentId])
  assert.equal(item?.attempts, 1)
})

test('an item that failed returns after a pause, before later ones of its thread', async () => {
  await addItem(db, { threadId: 'thread', sequence: 1 })
  await addItem(db, { threadId: 'thread', sequence: 2 })
  const first = await one()
  assert.equal(await failItem(db, leaseOf(first), 'the ledger is closed'), 'settled')
  assert.deepEqual(await take(), [])
  await endTimes(db)
  const again = await one()
  assert.deepEqual([again.itemId, again.attempts], [first.itemId, 2])
})

test('a lease that ended unanswered returns, and its token is stale', async () => {
  await addItem(db)
  const first = await one()
  await endTimes(db)
  assert.equal(await finishItem(db, leaseOf(first)), 'stale', 'also before another one takes it')
  const second = await one()
  assert.equal(second.itemId, first.itemId)
  assert.equal(await finishItem(db, leaseOf(first)), 'stale')
  assert.equal(await failItem(db, leaseOf(first), ''), 'stale')
  assert.equal((await extendLease(db, leaseOf(first), 60)).outcome, 'stale')
  const extended = await extendLease(db, leaseOf(second), 3_600)
  assert.ok((extended.leaseEndsAt ?? '') > second.leaseEndsAt)
  assert.equal(await finishItem(db, leaseOf(second)), 'settled')
  assert.equal(await finishItem(db, leaseOf(second)), 'stale')
})

test('a lease cannot be extended for ever', async () => {
  await addItem(db)
  const item = await one()
  await db`update inbox_item set leased_at = leased_at - interval '43190 seconds'`
  const { leaseEndsAt = '' } = await extendLease(db, leaseOf(item), 3_600)
  assert.ok(Date.parse(leaseEndsAt) - Date.now() < 60_000, leaseEndsAt)
})

test('an item that is never finished is set aside, its thread goes on, and it can be retried', async () => {
  const bad = await addItem(db, { threadId: 'thread', sequence: 1 })
  const next = await addItem(db, { threadId: 'thread', sequence: 2 })
  for (let attempt = 1; attempt <= MAXIMUM_ATTEMPTS; attempt++) {
    const item = await one()
    assert.equal(item.packageId, bad.packageId)
    // Half of the attempts say that they failed; the others are never heard of again.
    if (attempt % 2 === 1) await failItem(db, leaseOf(item), `reason ${attempt}`)
    await endTimes(db)
  }
  assert.equal((await one()).packageId, next.packageId)
  const [aside] = await listSetAside(db, { agentIds, limit: 10 })
  assert.deepEqual([aside?.packageId, aside?.failure], [bad.packageId, `reason ${MAXIMUM_ATTEMPTS - 1}`])
  assert.deepEqual(await listSetAside(db, { agentIds: ['agent_b'], limit: 10 }), [])
  const itemId = aside?.itemId ?? ''
  assert.equal(await db.begin((tx) => retrySetAside(tx, ['agent_b'], itemId)), false)
  assert.equal(await db.begin((tx) => retrySetAside(tx, agentIds, itemId)), true)
  assert.equal(await db.begin((tx) => retrySetAside(tx, agentIds, itemId)), false)
  assert.deepEqual(await take(), [], 'the other item of the thread is leased')
})

test('the items of another agent are neither taken nor settled', async () => {
  await addItem(db)
  assert.deepEqual(await take(10, ['agent_b']), [])
  assert.deepEqual(await take(10, []), [])
  const item = await one()
  assert.equal(await finishItem(db, { ...leaseOf(item), agentIds: ['agent_b'] }), 'missing')
  assert.equal(await finishItem(db, { ...leaseOf(item), itemId: 'item_other' }), 'missing')
})

test('a package is added once, also when it was done', async () => {
  const item = await addItem(db)
  await addItem(db, item)
  assert.equal(await finishItem(db, leaseOf(await one())), 'settled')
  await addItem(db, item)
  assert.deepEqual(await take(), [])
  assert.equal(await deleteFinishedItems(db), 0)
  await db`update inbox_item set finished_at = now() - interval '31 days'`
  assert.equal(await deleteFinishedItems(db), 1)
})
