import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { until } from '@agent-exchange/testkit'
import { testDraftStore } from '../../../sdk/src/drafts/draft-store-contract.fixture.ts'
import { testKeyStore } from '../../../sdk/src/keys/key-store-contract.fixture.ts'
import { createMemoryKeyProvider } from '../../../sdk/src/keys/memory-key-provider.fixture.ts'
import { testLogState } from '../../../sdk/src/log-state-contract.fixture.ts'
import { testOutbox } from '../../../sdk/src/outbox/outbox-contract.fixture.ts'
import { testPinStore } from '../../../sdk/src/peers/pin-store-contract.fixture.ts'
import { testInbox } from '../../../sdk/src/receive/inbox-contract.fixture.ts'
import { retryEvents } from '../agents/agent-events.ts'
import { openPostgresDeployment, openPostgresLogState, openPostgresMonitorState } from './agent-states.ts'
import { deleteOldSentDrafts, openPostgresDraftStore } from './draft-store.ts'
import { EVENT_CHANNEL, openPostgresInbox } from './inbox.ts'
import { openPostgresKeyStore } from './key-store.ts'
import { gatewayDatabase, testBox } from './gateway-database.fixture.ts'
import { openPostgresOutbox } from './outbox.ts'
import { openPostgresPinStore } from './pin-store.ts'

const database = await gatewayDatabase()
after(() => database[Symbol.asyncDispose]())
const { db } = database

testKeyStore('PostgreSQL, wrapped keys', async () =>
  openPostgresKeyStore(db, await database.newAgent(), { box: testBox() }),
)
testKeyStore('PostgreSQL, keys in a module', async () =>
  openPostgresKeyStore(db, await database.newAgent(), {
    box: testBox(),
    provider: createMemoryKeyProvider(),
  }),
)
testPinStore('in PostgreSQL', async () => openPostgresPinStore(db, await database.newAgent()))
testDraftStore('PostgreSQL', async () => openPostgresDraftStore(db, await database.newAgent(), testBox()))
testOutbox('PostgreSQL', async () => openPostgresOutbox(db, await database.newAgent()))
testInbox('PostgreSQL', async () => openPostgresInbox(db, await database.newAgent()))
testLogState('PostgreSQL', async (name) =>
  openPostgresLogState(db, await database.agentNamed(`agent_${name}`)),
)

test('profile and state of the monitor are kept for each agent', async () => {
  const [one, other] = [await database.newAgent(), await database.newAgent()]
  const known = { published: { a: 1 }, checkedAt: '2026-03-01T00:00:00.000Z' }
  await openPostgresDeployment(db, one).write(known)
  await openPostgresMonitorState(db, one).write({ threads: ['thread_a'], found: [] })
  assert.deepEqual(await openPostgresDeployment(db, one).read(), known)
  assert.deepEqual(await openPostgresMonitorState(db, one).read(), { threads: ['thread_a'], found: [] })
  assert.equal(await openPostgresDeployment(db, other).read(), undefined)
  assert.equal(await openPostgresMonitorState(db, other).read(), undefined)
})

test('of the drafts that each agent has sent the newest are kept, and all that are open', async () => {
  const [one, other] = [await database.newAgent(), await database.newAgent()]
  const add = (agentId: string, draftId: string, sentAt: string | null) => db`
    insert into agent_draft (agent_id, draft_id, created_at, sent_at, wrapped_key, sealed)
    values (${agentId}, ${draftId}, '2026-03-01T00:00:00Z', ${sentAt}, '', '')`
  for (const agentId of [one, other])
    for (const [index, draftId] of ['draft_1', 'draft_2', 'draft_3'].entries())
      await add(agentId, draftId, `2026-03-0${index + 1}T08:00:00Z`)
  await add(one, 'draft_open', null)
  await deleteOldSentDrafts(db, undefined, 2)
  const rows = await db<{ draft: string }[]>`
    select draft_id as draft from agent_draft where agent_id = any(${[one, other]}) order by agent_id, draft_id`
  assert.deepEqual(
    rows.map(({ draft }) => draft),
    ['draft_2', 'draft_3', 'draft_open', 'draft_2', 'draft_3'],
  )
})

test('two agents see nothing of each other, though their ids of packages, events and peers are equal', async () => {
  const [one, other] = [await database.newAgent(), await database.newAgent()]
  const box = testBox()
  const key = await openPostgresKeyStore(db, one, { box }).generate({
    role: 'signing',
    stage: 'current',
    createdAt: '2026-03-01T00:00:00.000Z',
  })
  await assert.rejects(openPostgresKeyStore(db, other, { box }).privateKey(key.keyId), {
    code: 'key_missing',
  })
  const event = { eventId: 'evt_1', notificationId: 'ntf_1', sequence: 1, body: '{}' }
  const at = '2026-03-01T00:00:00.000Z'
  const [mine, theirs] = [openPostgresInbox(db, one), openPostgresInbox(db, other)]
  assert.equal(await mine.store(event, 'webhook', at), 'new')
  assert.equal(await theirs.next(), undefined)
  assert.equal(await theirs.finish('evt_1', at), false)
  assert.equal(await theirs.store(event, 'webhook', at), 'new')
})

test('[EVT-14] an event that is retried by a command wakes the instance that handles events', async () => {
  const agentId = await database.newAgent()
  const inbox = openPostgresInbox(db, agentId)
  const at = '2026-03-01T00:00:00.000Z'
  await inbox.store({ eventId: 'evt_1', notificationId: 'ntf_1', sequence: 1, body: '{}' }, 'webhook', at)
  await inbox.setAside('evt_1', at, 'key_unavailable: the module is away')
  const woken: string[] = []
  await db.listen(
    EVENT_CHANNEL,
    (name) => woken.push(name),
    () => undefined,
  )
  assert.equal(await retryEvents(db, [agentId], { eventId: 'evt_none' }), 0)
  assert.equal(await retryEvents(db, [agentId], 'all'), 1)
  await until('the notice', () => woken.length > 0)
  assert.deepEqual(woken, [agentId])
  assert.equal((await inbox.next())?.attempts, 0)
})

test('[EVT-14] an effect may wait: it commits with the mark of its event, or neither does', async () => {
  const agentId = await database.newAgent()
  const inbox = openPostgresInbox(db, agentId)
  const at = '2026-03-01T00:00:00.000Z'
  await inbox.store({ eventId: 'evt_1', notificationId: 'ntf_1', sequence: 1, body: '{}' }, 'webhook', at)
  const write = (name: string, isFailing: boolean) =>
    inbox.finish('evt_1', at, async (tx) => {
      await tx`insert into agent_pin (agent_id, peer_id, pins) values (${agentId}, ${name}, '{}')`
      if (isFailing) throw new RangeError('no')
    })
  await assert.rejects(write('agent_lost', true), RangeError)
  assert.equal((await inbox.next())?.eventId, 'evt_1')
  assert.equal(await write('agent_kept', false), true)
  const rows = await db<{ peer_id: string }[]>`select peer_id from agent_pin where agent_id = ${agentId}`
  assert.deepEqual(
    rows.map(({ peer_id }) => peer_id),
    ['agent_kept'],
  )
})

test('[EVT-14] the lease of a dead instance is free for the one that is alone, and for no other', async () => {
  const agentId = await database.newAgent()
  const at = '2026-03-01T00:00:00.000Z'
  const lease = (holder: string) => ({ holder, now: at, until: '2026-03-01T01:00:00.000Z' })
  const dead = openPostgresInbox(db, agentId)
  await dead.store({ eventId: 'evt_1', notificationId: 'ntf_1', sequence: 1, body: '{}' }, 'webhook', at)
  assert.deepEqual(await dead.beginAttempt('evt_1', lease('a')), { attempt: 1 })
  const other = openPostgresInbox(db, agentId)
  assert.deepEqual(await other.beginAttempt('evt_1', lease('b')), { heldBy: 'another instance' })
  const alone = openPostgresInbox(db, agentId, { isAlone: () => true })
  assert.deepEqual(await alone.beginAttempt('evt_1', lease('b')), { attempt: 2 })
})

test('private keys are not in the database, and another master key opens none', async () => {
  const agentId = await database.newAgent()
  const keys = openPostgresKeyStore(db, agentId, { box: testBox() })
  const { keyId } = await keys.generate({
    role: 'signing',
    stage: 'current',
    createdAt: '2026-03-01T00:00:00Z',
  })
  const rows = await db<{ row: string }[]>`
    select agent_key::text as row from agent_key where agent_id = ${agentId}`
  assert.doesNotMatch(rows[0]?.row ?? '', /"d"/u)
  const stranger = openPostgresKeyStore(db, agentId, { box: testBox(2) })
  await assert.rejects(stranger.privateKey(keyId), /another master key/u)
})
