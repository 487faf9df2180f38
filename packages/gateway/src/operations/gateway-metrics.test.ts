import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { createKeyModuleMetrics } from '@agent-exchange/server/key-module'
import { gatewayDatabase } from '../stores/gateway-database.fixture.ts'
import { createGatewayMetrics } from './gateway-metrics.ts'
import { lastEnds } from './key-ends.ts'
import { agentInTrouble, answerOld, CANARY, NOW } from './needs-a-person.fixture.ts'
import { forgetDeadlines } from './response-deadlines.ts'

test('metrics show what waits, what is late and what forked, until it ends', async () => {
  await using database = await gatewayDatabase()
  const agent = await agentInTrouble(database)
  const now = () => new Date(NOW)
  const metrics = createGatewayMetrics({ db: database.db, now })
  const scrape = async () => {
    await metrics.task.run()
    return metrics.registry.metrics()
  }
  metrics.setKeyEnds([{ agentId: agent, use: 'signing', keyId: 'sig_1', endsAt: '2026-03-10T00:00:00Z' }])
  const first = await scrape()
  const seconds = (Date.parse(NOW) - Date.parse('2026-03-02T00:00:00Z')) / 1_000
  for (const sample of [
    `aex_gateway_inbox{agent="${agent}"} 1`,
    `aex_gateway_inbox_oldest_seconds{agent="${agent}"} ${seconds}`,
    `aex_gateway_outbox_oldest_seconds{agent="${agent}"} ${seconds}`,
    `aex_gateway_deadlines_passed{agent="${agent}"} 1`,
    `aex_gateway_log_forks{agent="${agent}"} 1`,
    `aex_gateway_key_expiry_timestamp_seconds{agent="${agent}",use="signing"} ${Date.parse('2026-03-10T00:00:00Z') / 1_000}`,
  ])
    assert.ok(first.includes(`${sample}\n`), sample)
  assert.ok(!first.includes(CANARY))

  await answerOld(database, agent)
  assert.ok(!(await scrape()).includes(`aex_gateway_deadlines_passed{agent="${agent}"}`))
  await database.db`update content set sealed = null, wrapped_key = null, deleted_at = ${NOW}`
  await forgetDeadlines(database.db, now())
  assert.deepEqual([...(await database.db`select package_id from response_deadline`)], [])
})

test('an answered deadline is forgotten, and unsent packages are found by an index', async () => {
  await using database = await gatewayDatabase()
  const agent = await agentInTrouble(database)
  await forgetDeadlines(database.db, new Date(NOW))
  assert.equal((await database.db`select package_id from response_deadline`).length, 1)
  await answerOld(database, agent)
  await forgetDeadlines(database.db, new Date(NOW))
  assert.deepEqual([...(await database.db`select package_id from response_deadline`)], [])
  const plan = await database.db.begin(async (tx) => {
    await tx`set local enable_seqscan = off`
    return tx`
      explain select agent_id, count(*) from agent_outbox where state not in ('accepted', 'refused') group by agent_id`
  })
  assert.match(JSON.stringify(plan), /agent_outbox_unsent/u)
})

test('docs/gateway.md lists the metrics of the gateway with their labels', async () => {
  await using database = await gatewayDatabase()
  const { registry } = createGatewayMetrics({ db: database.db, now: () => new Date(NOW) })
  createKeyModuleMetrics(registry)
  const page = readFileSync(new URL('../../../../docs/gateway.md', import.meta.url), 'utf8')
  const documented = [...page.matchAll(/^\| `(aex_\w+)`\s+\| (\w+)\s+\| ([^|]*)\|/gmu)].map(
    ([, name = '', type = '', labels = '']) =>
      `${name} ${type} ${[...labels.matchAll(/`(\w+)`/gu)].map(([, label]) => label).join()}`,
  )
  const existing = registry
    .getMetricsAsArray()
    .filter(({ name }) => name.startsWith('aex_'))
    .map((metric) => {
      const { name, labelNames } = metric as unknown as { name: string; labelNames: readonly string[] }
      return `${name} ${metric.constructor.name.toLowerCase()} ${labelNames.join()}`
    })
  assert.deepEqual(documented.toSorted(), existing.toSorted())
})

test('the key of a use that ends last counts, and none where one never ends', () => {
  const key = (key_id: string, use: string, valid_until?: string, status = 'active') => ({
    key_id,
    use,
    status,
    ...(valid_until !== undefined && { valid_until }),
  })
  const keys = [
    key('sig_1', 'signing', '2026-04-01T00:00:00Z'),
    key('sig_2', 'signing', '2026-06-30T23:59:60Z'),
    key('sig_3', 'signing', '2027-01-01T00:00:00Z', 'revoked'),
    key('enc_1', 'encryption', '2026-04-01T00:00:00Z'),
    key('enc_2', 'encryption'),
  ]
  assert.deepEqual(lastEnds(keys), [{ use: 'signing', keyId: 'sig_2', endsAt: '2026-07-01T00:00:00.000Z' }])
})
