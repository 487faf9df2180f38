import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { openDatabase } from '@agent-exchange/database'
import { until } from '@agent-exchange/testkit'
import { pino } from 'pino'
import { createMemoryKeyProvider } from '../../../sdk/src/keys/memory-key-provider.fixture.ts'
import { openContentStore } from '../content/open-content-store.ts'
import { contentFor, startCompanies } from '../startup/two-instances.fixture.ts'
import { testBox } from '../stores/gateway-database.fixture.ts'
import { hostAgents } from './host-agents.ts'

const provider = createMemoryKeyProvider()
const companies = await startCompanies()
after(() => companies[Symbol.asyncDispose]())

/** Pauses of milliseconds; the number of attempts is that of production. */
const LIMITS = { pollMs: 30, idleMs: 30, pollRetryMs: 1, keyRetryLongestMs: 2, handlerRetryMs: 1, jitter: 0 }
const MORE_THAN_ALL_ATTEMPTS = 16

test('[PKG-08][EVT-14] a module that is away sets no event aside: packages wait in order, and are stored when it is back', async () => {
  const agentId = await companies.addAgent('module', { keyProvider: provider })
  const open = () =>
    openDatabase({ target: companies.databaseUrl, maximumConnections: 4, applicationName: 'test' })
  await using cleanup = new AsyncDisposableStack()
  const [db, sessions] = [open(), open()]
  cleanup.defer(() => Promise.all([db.end(), sessions.end()]).then(() => undefined))
  const now = () => new Date(companies.world.clock.now())
  const troubles: string[] = []
  const others: string[] = []
  await using hosting = await hostAgents({
    db,
    sessions,
    box: testBox(),
    contents: openContentStore({ db, box: testBox(), clock: companies.world.clock }),
    now,
    publicUrl: 'http://localhost:8090',
    keyProvider: provider,
    log: pino({ level: 'silent' }),
    limits: LIMITS,
    onReport: (_, report) => {
      if (report.kind === 'trouble' && report.during === 'keys') troubles.push(agentId)
      else others.push(report.kind)
    },
  })
  await until('this instance leads', () => hosting.isLeading())
  // The access token is there, so that each attempt reaches the decryption key at once.
  const polled = async () => (await hosting.receiverOf(agentId)?.status())?.cursor !== undefined
  await until('a first poll', polled)
  provider.isAway = true
  const to = { organizationId: 'org_module', agentId }
  const sent = []
  for (const word of ['first', 'second'])
    sent.push((await companies.partner.send(contentFor(companies.partner, to, word))).packageId)
  await until('more failures than attempts', () => troubles.length > MORE_THAN_ALL_ATTEMPTS)
  const setAside = async () => (await db`select 1 as one from agent_event where state = 'set_aside'`).length
  assert.equal(await setAside(), 0)
  provider.isAway = false
  const items = async () =>
    (await db<{ package_id: string }[]>`select package_id from inbox_item order by sequence`).map(
      (row) => row.package_id,
    )
  await until('both packages', async () => (await items()).length === 2)
  assert.deepEqual(await items(), sent)
  assert.deepEqual([await setAside(), others.filter((kind) => kind !== 'trouble')], [0, []])
})
