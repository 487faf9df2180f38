import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { exampleObjects } from '@agent-exchange/protocol'
import { gatewayDatabase, testBox } from '../stores/gateway-database.fixture.ts'
import { gatewayOperations } from '../api/operations.ts'
import { listAccess } from './access-record.ts'
import { MAXIMUM_CONTENT_PAGE } from './content-limits.ts'
import type { Reader } from './content-store.ts'
import { listHolds, placeHold, releaseHold } from './holds.ts'
import { openContentStore } from './open-content-store.ts'
import { deleteDue, retentionEnd } from './retention.ts'
import { threadsOfContents } from './threads-of-contents.ts'

const database = await gatewayDatabase()
after(() => database[Symbol.asyncDispose]())
const { db } = database

const CANARY = 'canary-tungsten-harbour'
const object = {
  ...exampleObjects.reasoning_package,
  reasoning: { ...exampleObjects.reasoning_package.reasoning, summary: CANARY },
}
const reader: Reader = { kind: 'system', id: 'erp', purpose: 'plan the week' }
const provenance = { forwarding_allowed: false, disclosure_level: 'aggregated' }
const opened = '2026-03-01T00:00:00.000Z'

async function stored(retentionUntil?: Date) {
  const clock = { at: opened, now: () => clock.at }
  const contents = openContentStore({ db, box: testBox(), clock })
  const agentId = await database.newAgent()
  const packageId = 'pkg_1'
  const content = {
    agentId,
    packageId,
    threadId: 'thread_1',
    direction: 'received',
    object,
    provenance,
  } as const
  await db.begin((tx) => contents.put(tx, { ...content, ...(retentionUntil && { retentionUntil }) }))
  return { clock, contents, agentId, packageId, content }
}

test('each read gives object and provenance, and is an entry that nobody can change', async () => {
  const { contents, agentId, packageId } = await stored()
  const found = await contents.read(reader, agentId, packageId)
  assert.ok(found !== undefined && found !== 'gone')
  assert.deepEqual([found.object, found.provenance], [object, provenance])
  const entries = await listAccess(db, agentId, packageId)
  assert.deepEqual(
    entries.map(({ action, actor, purpose }) => [action, actor, purpose]),
    [['read', { kind: 'system', id: 'erp' }, 'plan the week']],
  )
  await assert.rejects(db`update access_record set purpose = 'none'`, /append-only/u)
  await assert.rejects(db`delete from access_record`, /append-only/u)
  await assert.rejects(db`truncate access_record`, /append-only/u)
})

test('threads beyond the longest page are listed, and a full page says where the next begins', async () => {
  const { contents, agentId, content } = await stored()
  await db.begin(async (tx) => {
    for (let number = 2; number <= MAXIMUM_CONTENT_PAGE + 1; number += 1)
      await contents.put(tx, { ...content, packageId: `pkg_${number}`, threadId: 'thread_2' })
  })
  const { threads } = await threadsOfContents(contents, agentId, { limit: 10 })
  assert.deepEqual(
    threads.map(({ threadId, packages }) => [threadId, packages]),
    [
      ['thread_2', MAXIMUM_CONTENT_PAGE],
      ['thread_1', 1],
    ],
  )
  // The longest page that the API permits.
  const { maximum } = gatewayOperations.listPackages.query.properties.limit as unknown as { maximum: number }
  assert.equal((await contents.list(agentId, { limit: maximum })).length, maximum)
})

test('another agent reads nothing by the id of a package, and lists nothing', async () => {
  const { contents, packageId } = await stored()
  const other = await database.newAgent()
  assert.equal(await contents.read(reader, other, packageId), undefined)
  assert.deepEqual(await contents.list(other, { limit: 10 }), [])
  assert.deepEqual(await listAccess(db, other, packageId), [])
})

test('a ciphertext that was moved to another row opens nothing', async () => {
  const { contents, agentId, packageId } = await stored()
  const other = await stored()
  await db`
    update content set (wrapped_key, sealed) = (select wrapped_key, sealed from content where agent_id = ${agentId})
    where agent_id = ${other.agentId}`
  await assert.rejects(contents.read(reader, other.agentId, packageId), /altered/u)
  // A read that failed is no entry.
  assert.deepEqual(await listAccess(db, other.agentId, packageId), [])
})

test('[O-51] retention_days, counted from when it was opened, deletes plaintext and data key on time; the row stays', async () => {
  const end = retentionEnd(object, new Date(opened))
  assert.equal(end?.toISOString(), '2026-05-30T00:00:00.000Z')
  const { clock, contents, agentId, packageId } = await stored(end)
  clock.at = '2026-05-29T23:59:59.000Z'
  await deleteDue(db, clock)
  assert.notEqual(await contents.read(reader, agentId, packageId), 'gone')
  clock.at = '2026-05-30T00:00:00.000Z'
  await deleteDue(db, clock)
  assert.equal(await contents.read(reader, agentId, packageId), 'gone')
  const [row] = await db`select wrapped_key, sealed from content where agent_id = ${agentId}`
  assert.deepEqual({ ...row }, { wrapped_key: null, sealed: null })
  const [summary] = await contents.list(agentId, { limit: 10 })
  assert.equal(summary?.deletedAt, clock.at)
  const entries = await listAccess(db, agentId, packageId)
  assert.deepEqual(entries.at(-1)?.actor, { kind: 'gateway', id: 'retention' })
})

test('a legal hold stops the deletion, and both its ends are recorded', async () => {
  const { clock, contents, agentId, packageId } = await stored(new Date(opened))
  const change = { agentId, threadId: 'thread_1', by: 'counsel', reason: 'case 12' }
  assert.equal(await placeHold(db, new Date(clock.now()), change), true)
  assert.equal(await placeHold(db, new Date(clock.now()), change), false)
  await deleteDue(db, clock)
  assert.notEqual(await contents.read(reader, agentId, packageId), 'gone')
  assert.equal((await listHolds(db, agentId))[0]?.reason, 'case 12')
  assert.equal(await releaseHold(db, new Date(clock.now()), { ...change, reason: 'case closed' }), true)
  await deleteDue(db, clock)
  assert.equal(await contents.read(reader, agentId, packageId), 'gone')
  const rows = await db<{ action: string; actor_id: string }[]>`
    select action, actor_id from access_record where agent_id = ${agentId} and package_id is null order by number`
  assert.deepEqual(
    rows.map(({ action, actor_id }) => [action, actor_id]),
    [
      ['hold_placed', 'counsel'],
      ['hold_released', 'counsel'],
    ],
  )
})

test('pages of contents are newest first and hold no plaintext', async () => {
  const { contents, agentId, content } = await stored()
  for (const packageId of ['pkg_2', 'pkg_3'])
    await db.begin((tx) => contents.put(tx, { ...content, packageId, threadId: 'thread_2' }))
  const ids = async (page: Parameters<typeof contents.list>[1]) =>
    (await contents.list(agentId, page)).map(({ packageId }) => packageId)
  assert.deepEqual(await ids({ limit: 2 }), ['pkg_3', 'pkg_2'])
  assert.deepEqual(await ids({ limit: 2, before: 'pkg_2' }), ['pkg_1'])
  assert.deepEqual(await ids({ limit: 9, threadId: 'thread_1' }), ['pkg_1'])
  assert.doesNotMatch(JSON.stringify(await contents.list(agentId, { limit: 9 })), new RegExp(CANARY, 'u'))
  const dump = await db<{ row: string }[]>`select content::text as row from content`
  assert.doesNotMatch(dump.map(({ row }) => row).join('\n'), new RegExp(CANARY, 'u'))
})
