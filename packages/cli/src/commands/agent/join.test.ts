import assert from 'node:assert/strict'
import { existsSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { startWorld, type World } from '@agent-exchange/testkit'
import { aexAt, documentOf, fails, succeeds } from '../../aex-here.fixture.ts'
import { packageBetween, temporaryFolder } from './agents.fixture.ts'

const folder = temporaryFolder()
let world: World
let operator: { env: Record<string, string> }
before(async () => {
  world = await startWorld()
  const { body } = await world.operate('POST', '/operators', { name: 'joiner', role: 'administrator' })
  operator = { env: { AEX_OPERATOR_URL: world.operatorUrl, AEX_OPERATOR_TOKEN: String(body['token']) } }
  for (const id of ['org_seats', 'org_cars'])
    await world.operate('POST', '/organizations', { organization_id: id, name: id })
})
after(async () => {
  await world[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

async function invite(...options: string[]): Promise<string> {
  const { code, stdout, stderr } = await aexAt(operator, 'invite', 'create', ...options)
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^aexinv_[A-Za-z0-9_-]+\n$/)
  return stdout.trim()
}

test('two commands let an agent in, and then it sends', async () => {
  const [seats, cars] = [folder.path('seats'), folder.path('cars')]
  const invitation = await invite('--org', 'org_seats', '--agent', 'agent_seats')
  const joined = await succeeds('agent', 'join', invitation, '--dir', seats)
  assert.match(joined, /agent_seats of org_seats has joined http:\/\/127\.0\.0\.1/)
  assert.equal(joined.includes(invitation), false)
  assert.equal(statSync(join(seats, 'keys.json')).mode & 0o077, 0)
  assert.match(await succeeds('agent', 'doctor', '--dir', seats), /Everything is as it should be/)

  // Without a named agent the command chooses an id, and keeps it.
  const open = await invite('--org', 'org_cars', '--expires', '30m')
  const first = await documentOf('agent', 'join', open, '--dir', cars)
  assert.match(String(first['agent_id']), /^agent_[0-9a-f]{32}$/)
  const again = await documentOf('agent', 'join', `${open.slice(0, 40)}\n${open.slice(40)}`, '--dir', cars)
  assert.deepEqual([again['agent_id'], again['client_id']], [first['agent_id'], first['client_id']])
  const { packageId } = await packageBetween(seats, cars)
  assert.match(packageId, /^pkg_/)

  const listed = await aexAt(operator, 'invite', 'list', '--org', 'org_cars', '--json')
  const { items } = JSON.parse(listed.stdout) as { items: Record<string, unknown>[] }
  assert.deepEqual(
    items.map((item) => [item['state'], item['used_agent_id'], item['client_id']]),
    [['used', first['agent_id'], first['client_id']]],
  )
})

test('a refused invitation says what to do, and the folder is ready for a new one', async () => {
  const dir = folder.path('late')
  const args = ['--org', 'org_seats', '--agent', 'agent_late']
  const expired = await invite(...args, '--expires', '60s')
  world.clock.advance(61)
  // The exchange's clock is ahead of this machine's, so the text cannot blame the expiry alone.
  assert.match(
    await fails('agent', 'join', expired, '--dir', dir),
    /Ask the operator of the exchange for a new/,
  )
  const used = await invite(...args)
  await succeeds('agent', 'join', used, '--dir', dir)
  const thief = folder.path('thief')
  const stolen = await fails('agent', 'join', used, '--dir', thief)
  assert.match(stolen, /was used with another key or revoked/)
  assert.match(stolen, /invitation_refused/)
  assert.equal(existsSync(join(thief, 'keys.json')), true)
  assert.equal('client_id' in (JSON.parse(readFileSync(join(thief, 'agent.json'), 'utf8')) as object), false)
})

test('a damaged invitation, a wrong agent and an occupied folder are refused before anything is sent', async () => {
  const dir = folder.path('seats')
  assert.match(
    await fails('agent', 'join', 'aexinv_abc', '--dir', folder.path('none')),
    /begins with aexinv_/,
  )
  assert.equal(existsSync(folder.path('none')), false)
  const named = await invite('--org', 'org_seats', '--agent', 'agent_other')
  assert.match(
    await fails('agent', 'join', named, '--agent', 'agent_mine', '--dir', folder.path('none')),
    /is for agent_other only/,
  )
  assert.match(await fails('agent', 'join', named, '--dir', dir), /holds agent_seats of org_seats/)
  const { items } = (await world.operate('GET', '/invitations?organization_id=org_seats')).body as {
    items: Record<string, unknown>[]
  }
  assert.equal(items.find((item) => item['agent_id'] === 'agent_other')?.['state'], 'open')
})

test('invitations are revoked with a reason, and durations are checked', async () => {
  const created = await aexAt(operator, 'invite', 'create', '--org', 'org_seats', '--json')
  const { invitation_id, invitation } = JSON.parse(created.stdout) as Record<string, string>
  const revoked = await aexAt(operator, 'invite', 'revoke', invitation_id ?? '', '--reason', 'typo', '--json')
  assert.equal((JSON.parse(revoked.stdout) as Record<string, string>)['state'], 'revoked')
  await fails('agent', 'join', invitation ?? '', '--dir', folder.path('revoked'))
  const wrong = await aexAt(operator, 'invite', 'create', '--org', 'org_seats', '--expires', 'soon')
  assert.deepEqual([wrong.code, /Give a duration such as/.test(wrong.stderr)], [1, true])
  const long = await aexAt(operator, 'invite', 'create', '--org', 'org_seats', '--expires', '31d')
  assert.deepEqual([long.code, /expires_in_seconds/.test(long.stderr)], [1, true])
})
