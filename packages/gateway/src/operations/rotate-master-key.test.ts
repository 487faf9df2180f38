import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { exampleObjects } from '@agent-exchange/protocol'
import { fingerprint } from '@agent-exchange/server/master-key'
import { openContentStore } from '../content/open-content-store.ts'
import { addItem } from '../inbox/inbox.fixture.ts'
import { failureContext } from '../inbox/inbox-items.ts'
import { addPushEndpoint, listPushEndpoints } from '../push/push-endpoints.ts'
import { gatewayDatabase } from '../stores/gateway-database.fixture.ts'
import { openPostgresKeyStore } from '../stores/key-store.ts'
import { createSecretBox } from '../stores/secret-box.ts'
import { countLeft, missingKeyId, rotateMasterKey } from './rotate-master-key.ts'

const database = await gatewayDatabase()
after(() => database[Symbol.asyncDispose]())
const { db } = database
const [former, next] = [new Uint8Array(32).fill(1), new Uint8Array(32).fill(2)]
const at = '2026-03-01T00:00:00.000Z'
const reader = { kind: 'system', id: 'erp', purpose: 'test' } as const

test('after a rotation that was interrupted and repeated, the new master key alone opens everything', async () => {
  const agentId = await database.newAgent()
  const before = createSecretBox(() => ({ current: former }))
  const { keyId } = await openPostgresKeyStore(db, agentId, { box: before }).generate({
    role: 'signing',
    stage: 'current',
    createdAt: at,
  })
  const contents = openContentStore({ db, box: before, clock: { now: () => at } })
  for (const packageId of ['pkg_1', 'pkg_2'])
    await db.begin((tx) =>
      contents.put(tx, {
        agentId,
        packageId,
        threadId: 'thread_1',
        direction: 'received',
        object: exampleObjects.reasoning_package,
        provenance: {},
      }),
    )
  const endpoint = { agentId, url: 'https://erp.example/in', allowedHosts: new Set(['erp.example']) }
  await addPushEndpoint(db, endpoint, before)
  await addItem(db, { agentId })
  const [item] = await db<{ item_id: string }[]>`select item_id from inbox_item`
  const context = failureContext(item?.item_id ?? '')
  await db`update inbox_item set failure_wrapped = ${before.wrap(context, Buffer.from('why'))}`
  await db`
    insert into draft_decision (agent_id, draft_id, reference, person_id, decision, statement, client_data,
      authenticator_data, signature, passkey_id, public_key, counter_before, signed_in_at, registered_at, origin, rp_id,
      answered_at, reason_wrapped_key, reason_sealed)
    values (${agentId}, 'draft_1', 'approval_1', 'person_1', 'approved', '', '', '', '', 'passkey_1', '', 0, now(), now(), '',
      '', now(), ${before.wrap(`decision/${agentId}/approval_1`, Buffer.from('k'))}, '\\x00')`

  const both = createSecretBox(() => ({ current: next, previous: former }))
  const left = async () => (await countLeft(db, both)).reduce((sum, { count }) => sum + count, 0)
  assert.equal(await left(), 6)
  assert.equal(await missingKeyId(db, [fingerprint(next)]), fingerprint(former))
  await assert.rejects(
    rotateMasterKey(db, both, ({ what }) => {
      if (what === 'opened content') throw new Error('the process ended here')
    }),
    /ended here/u,
  )
  assert.equal(await left(), 3)
  // Between the two, a process with both keys reads what either wraps.
  const halfway = openContentStore({ db, box: both, clock: { now: () => at } })
  assert.ok(await halfway.read(reader, agentId, 'pkg_1'))
  assert.equal(await rotateMasterKey(db, both), 3)
  assert.equal(await left(), 0)

  const box = createSecretBox(() => ({ current: next }))
  assert.ok(await openPostgresKeyStore(db, agentId, { box }).privateKey(keyId))
  const found = await openContentStore({ db, box, clock: { now: () => at } }).read(reader, agentId, 'pkg_2')
  assert.ok(found !== undefined && found !== 'gone')
  assert.equal((await listPushEndpoints(db, box)).length, 1)
  assert.equal(await missingKeyId(db, [fingerprint(next)]), undefined)
  await assert.rejects(
    openContentStore({ db, box: before, clock: { now: () => at } }).read(reader, agentId, 'pkg_2'),
    /another master key/u,
  )
  // The guard of the decisions is on again.
  await assert.rejects(db`update draft_decision set person_id = 'person_2'`, /append-only/u)
})
