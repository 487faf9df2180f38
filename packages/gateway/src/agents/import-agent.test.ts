import assert from 'node:assert/strict'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { openDatabase } from '@agent-exchange/database'
import { approveDraft, initApprover } from '@agent-exchange/sdk/internal/node'
import { connectFolder, joinExchange } from '@agent-exchange/sdk/node'
import { until } from '@agent-exchange/testkit'
import { contentFor, registration, startCompanies } from '../startup/two-instances.fixture.ts'
import { openPostgresDraftStore } from '../stores/draft-store.ts'
import { testBox } from '../stores/gateway-database.fixture.ts'
import { importAgent } from './import-agent.ts'

const companies = await startCompanies()
after(() => companies[Symbol.asyncDispose]())
const { world, partner } = companies
const now = () => new Date(world.clock.now())
const db = openDatabase({ target: companies.databaseUrl, maximumConnections: 2, applicationName: 'test' })
after(() => db.end())
const deps = { db, box: testBox(), now }
const folder = join(mkdtempSync(join(tmpdir(), 'aex-import-')), 'agent')
after(() => rmSync(join(folder, '..'), { recursive: true }))
const gateway = 'the gateway of the test'
const peer = { organizationId: 'org_partner', agentId: 'agent_partner' }
const mover = { organizationId: 'org_mover', agentId: 'agent_mover' }
const PASSPHRASE = 'a passphrase that a person knows'
const QUICK = { n: 1_024, r: 8, p: 1 }
const isMoved = { code: 'agent_folder_moved', message: /agent_mover moved to the gateway of the test at / }

test('[EVT-14] an agent moves from its folder into the gateway with everything that it keeps, and is handled once', async () => {
  await world.operate('POST', '/organizations', { organization_id: mover.organizationId, name: 'mover' })
  const { body } = await world.operate('POST', '/invitations', { organization_id: mover.organizationId })
  const invitation = String(body['invitation'])
  await joinExchange(folder, {
    invitation,
    agentId: mover.agentId,
    registration,
    now,
    passphrase: PASSPHRASE,
    cost: QUICK,
  })

  let isReachable = true
  const fetchUnless: typeof fetch = async (input, init) =>
    isReachable || init?.method !== 'POST'
      ? fetch(input, init)
      : new Response(null, { status: 503, headers: { 'retry-after': '100000' } })
  const agent = await connectFolder(folder, { now, passphrase: PASSPHRASE, fetch: fetchUnless })
  const handled: string[] = []
  const receiver = agent.onPackage(
    ({ packageId }) => {
      handled.push(packageId)
      return (database) => database.exec('create table if not exists orders (id text)')
    },
    { limits: { pollMs: 50, idleMs: 50 } },
  )
  await receiver.start()
  const first = await partner.send(contentFor(partner, mover, 'first'))
  await until('the folder has handled the first package', () => handled.length === 1)
  await receiver.stop()
  const second = await partner.send(contentFor(partner, mover, 'second'))

  await agent.send(contentFor(agent, peer, 'accepted'))
  isReachable = false
  await assert.rejects(agent.send(contentFor(agent, peer, 'sealed, not accepted')))
  const [sealed] = await agent.outbox.pending(10)
  assert.ok(sealed)
  isReachable = true
  await initApprover(folder, { passphrase: PASSPHRASE, cost: QUICK, now })
  const draft = await agent.drafts.create(contentFor(agent, peer, 'drafted'))
  await approveDraft({
    folder,
    draftId: draft.draftId,
    digest: draft.digest,
    decision: 'approved',
    passphrase: PASSPHRASE,
    name: 'Ida',
    reason: 'fine',
    now,
  })
  const pins = await agent.folder.pins.list()

  const given = { folder, gateway, passphrase: PASSPHRASE }
  await assert.rejects(importAgent(deps, given), { code: 'agent_folder_in_use' })
  await agent[Symbol.asyncDispose]()
  await assert.rejects(importAgent(deps, { ...given, passphrase: 'wrong' }), { code: 'key_store_locked' })
  await assert.rejects(importAgent(deps, { ...given, agentId: 'agent_other' }), { code: 'input_invalid' })
  assert.ok(!existsSync(join(folder, 'moved.json')))
  const moved = await importAgent(deps, { ...given, agentId: mover.agentId })
  assert.deepEqual(
    [moved.agentId, moved.pins, moved.outbox, moved.drafts],
    [mover.agentId, pins.length, 2, 1],
  )
  assert.deepEqual(moved.applicationTables, ['orders'])

  await assert.rejects(importAgent(deps, given), isMoved)
  await assert.rejects(connectFolder(folder, { passphrase: PASSPHRASE }), isMoved)
  assert.ok(existsSync(join(folder, 'keys.json')))
  assert.match(readFileSync(join(folder, 'moved.json'), 'utf8'), /"moved_to": "the gateway of the test"/u)

  await using instance = await companies.startInstance()
  const items = () => db<{ package_id: string }[]>`select package_id from inbox_item order by sequence`
  await until('the gateway has handled what waited', async () => (await items()).length > 0)
  const third = await partner.send(contentFor(partner, mover, 'third'))
  await until('the next package', async () => (await items()).length > 1)
  assert.deepEqual(
    (await items()).map(({ package_id }) => package_id),
    [second.packageId, third.packageId],
  )
  assert.ok(!(await items()).some(({ package_id }) => package_id === first.packageId))

  const hosted = instance.agents.find(mover.agentId)
  assert.ok(hosted)
  await hosted.agent.resume()
  assert.equal((await hosted.outbox.read(sealed.packageId))?.state, 'accepted')
  assert.match(JSON.stringify((await partner.open(sealed.packageId)).object), /sealed, not accepted/u)
  const record = await openPostgresDraftStore(db, mover.agentId, deps.box).read(draft.draftId)
  assert.match(JSON.stringify(record.decision), /"approved"/u)
  const sent = await hosted.drafts.send(draft.draftId)
  assert.match(JSON.stringify((await partner.open(sent.packageId)).object), /drafted/u)
  const rows = await db<{ pins: string }[]>`select pins from agent_pin where agent_id = ${mover.agentId}`
  const known = new Set(rows.map((row) => row.pins))
  assert.ok(pins.length > 0 && pins.every((each) => known.has(JSON.stringify(each))))
})

test('an import that was interrupted before its commit is repeated, and one that failed leaves the folder as it was', async () => {
  const place = join(mkdtempSync(join(tmpdir(), 'aex-import-')), 'agent')
  after(() => rmSync(join(place, '..'), { recursive: true }))
  await world.operate('POST', '/organizations', { organization_id: 'org_again', name: 'again' })
  const { body } = await world.operate('POST', '/invitations', { organization_id: 'org_again' })
  await joinExchange(place, {
    invitation: String(body['invitation']),
    agentId: 'agent_again',
    registration,
    now,
  })
  const broken = { ...deps, box: { ...deps.box, wrap: () => new Uint8Array(0), seal: deps.box.seal } }
  await db`alter table agent_key add constraint nothing_fits check (length(private_key_encrypted) > 0)`
  await assert.rejects(importAgent(broken, { folder: place, gateway }), /nothing_fits/u)
  await (await connectFolder(place, { now }))[Symbol.asyncDispose]()

  // As a process leaves it that died between the file and the commit.
  const { writeMove } = await import('../../../sdk/src/node/moved-folder.ts')
  await writeMove(join(place, 'moved.json'), {
    agent_id: 'agent_again',
    moved_to: gateway,
    moved_at: now().toISOString(),
  })
  await assert.rejects(importAgent(deps, { folder: place, gateway: 'another gateway' }), {
    code: 'agent_folder_moved',
  })
  assert.equal((await importAgent(deps, { folder: place, gateway })).agentId, 'agent_again')
})
