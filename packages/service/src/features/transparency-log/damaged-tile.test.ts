import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { assertProblem, organizations, sendPackage, startWorld } from '@agent-exchange/testkit'
import { openDatabase } from '@agent-exchange/database'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { alertAboutLog } from './log-alerts.ts'
import { provedItems, publishedStatus, QUICK_LOG } from './quick-log.fixture.ts'

const world = await startWorld({ profile: QUICK_LOG, config: { role: 'all' } })
after(() => world[Symbol.asyncDispose]())
const db = openDatabase({ target: world.databaseUrl, maximumConnections: 1, applicationName: 'test' })
after(() => db.end())

test('[AUD-01][O-19] a damaged tile is a problem with an alert, and proofs return once it is restored', async () => {
  const [seats, cars] = await organizations(world, 'seats', 'cars')
  const { metadata } = await sendPackage(seats, cars)
  const path = `/log/records?package_id=${metadata.package_id}`
  await provedItems(seats, path, 'records')
  await publishedStatus(world)
  const [tile] = await world.sql<{ bytes: Buffer }[]>`select bytes from log_tile where level = 0`
  assert.ok(tile)
  const damaged = Buffer.from(tile.bytes)
  damaged[0] = (damaged[0] ?? 0) ^ 1
  // A process that starts now has no tile in its memory.
  await using fresh = await startWorld({ profile: QUICK_LOG, beside: world, config: { role: 'api' } })
  const at = { at: fresh.url }
  const alerts = async () => {
    const { body } = await world.operate('GET', '/alerts')
    return (body['items'] as { kind: string }[]).filter(({ kind }) => kind === 'log_damaged').length
  }
  const look = () => alertAboutLog({ db, profile: DEFAULT_PROFILE, clock: world.clock })
  await world.sql`update log_tile set bytes = ${damaged} where level = 0`
  for (const each of [
    path,
    '/log/key-events?agent_id=agent_platform',
    '/log/consistency?from=1',
    '/log/history?index=1',
  ]) {
    const answer = await seats.get(each, at)
    assertProblem(answer, 'log_damaged')
    assert.equal(answer.status, 503)
  }
  await look()
  await look()
  assert.equal(await alerts(), 1)
  const { body } = await world.operate('GET', '/transparency-log')
  assert.equal(body['state'], 'damaged')
  assert.match(String(body['what_to_do']), /log_tile/u)
  await world.sql`update log_tile set bytes = ${tile.bytes} where level = 0`
  assert.equal((await seats.get(path, at)).status, 200)
  await look()
  await publishedStatus(world)
  await world.sql`delete from log_tile where level = 0`
  assertProblem(await cars.get('/log/consistency?from=1', at), 'log_damaged')
})
