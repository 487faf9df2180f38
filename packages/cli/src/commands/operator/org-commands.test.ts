import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { after, before, test } from 'node:test'
import { setScene, startWorld, type Scene, type World } from '@agent-exchange/testkit'
import { aexAt } from '../../aex-here.fixture.ts'
import { temporaryFolder } from '../agent/agents.fixture.ts'

const folder = temporaryFolder()
let world: World
let scene: Scene
let operator: { env: Record<string, string> }
before(async () => {
  world = await startWorld()
  scene = await setScene(world)
  const { body } = await world.operate('POST', '/operators', { name: 'orgs', role: 'administrator' })
  operator = { env: { AEX_OPERATOR_URL: world.operatorUrl, AEX_OPERATOR_TOKEN: String(body['token']) } }
})
after(async () => {
  await world[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

const aex = (...args: string[]) => aexAt(operator, ...args)
const linesOf = (file: string) =>
  readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as { type: string; data: Record<string, unknown> })

test('org export writes one private file whose last line says that it is complete', async () => {
  const id = scene.recipient.organizationId
  const dir = folder.path('exports')
  mkdirSync(dir)
  const { code, stderr, stdout } = await aex('org', 'export', id, '--out', dir, '--json')
  assert.equal(code, 0, stderr)
  const { file } = JSON.parse(stdout) as { file: string }
  assert.equal(file, `${dir}/${id}.ndjson`)
  assert.equal(statSync(file).mode & 0o077, 0)
  const lines = linesOf(file)
  const [header, end] = [lines[0], lines.at(-1)]
  assert.deepEqual(
    [header?.type, header?.data['format'], header?.data['version']],
    ['header', 'aex-organization-export', 1],
  )
  assert.equal(end?.type, 'end')
  const counts = end?.data['records'] as Record<string, number>
  for (const [type, count] of Object.entries(counts))
    assert.equal(lines.filter((line) => line.type === type).length, count)
  assert.ok((counts['evidence'] ?? 0) >= 1)
  assert.match((await aex('org', 'export', id, '--out', dir)).stderr, /exists already/)
})

test('a failed export leaves no file behind', async () => {
  const file = folder.path('nobody.ndjson')
  assert.equal((await aex('org', 'export', 'org_nobody', '--out', file)).code, 1)
  assert.deepEqual([existsSync(file), existsSync(`${file}.partial`)], [false, false])
  writeFileSync(folder.path('plain'), '')
  const unwritable = await aex(
    'org',
    'export',
    scene.sender.organizationId,
    '--out',
    folder.path('plain/x.ndjson'),
  )
  assert.deepEqual([unwritable.code, /cannot be written/.test(unwritable.stderr)], [1, true])
})

test('org show prints quotas and their use', async () => {
  const { stdout } = await aex('org', 'show', scene.sender.organizationId, '--json')
  const { usage } = JSON.parse(stdout) as { usage: Record<string, { used: number; maximum: number }> }
  assert.ok((usage['agents']?.used ?? 0) >= 1)
  assert.ok((usage['stored_bytes']?.used ?? 0) > 0)
})

test('[O-50] org accept, block and unblock say whose packages an organization accepts', async () => {
  const [to, from] = [scene.sender.organizationId, scene.recipient.organizationId]
  const shown = await aex('org', 'accept', to)
  assert.match(shown.stdout, /^accepts_from +anyone who is not blocked \(as the deployment profile says\)$/mu)
  const added = await aex('org', 'accept', to, from)
  assert.match(added.stderr, /still accepts packages from anyone\. To accept .*aex org accept \S+ --only$/mu)
  const only = await aex('org', 'accept', to, '--only')
  assert.match(
    only.stdout,
    /^accepts_from +accepted organizations only\naccepted +1 listed\nblocked +0 listed$/mu,
  )
  const blocked = await aex('org', 'block', to, from, '--reason', 'spam', '--json')
  assert.deepEqual(
    Object.entries(JSON.parse(blocked.stdout) as object).slice(1, 5),
    Object.entries({ accepts_from: 'listed', is_default: false, accepted: 0, blocked: 1 }),
  )
  const listed = await aex('org', 'senders', to, '--rule', 'block')
  assert.match(
    listed.stdout,
    new RegExp(`^SENDER_ORG_ID +NAME +RULE +CHANGED_AT\\n${from} +.* +block +20`, 'u'),
  )
  const unblocked = await aex('org', 'unblock', to, from)
  assert.match(unblocked.stdout, /^accepts_from +nobody, because [^]*^blocked +0 listed$/mu)
  assert.match((await aex('org', 'accept', to, '--default')).stdout, /as the deployment profile says/u)
  for (const [args, message] of [
    [['accept', to, 'org_nobody'], /\/accept\/0 +Name an organization of this exchange/u],
    [['accept', to, '--only', '--anyone'], /cannot be used with option/u],
    [['accept', to, '--remove'], /Name the organizations to remove/u],
    [['block', to], /missing required argument/u],
  ] as const) {
    const refused = await aex('org', ...args)
    assert.notEqual(refused.code, 0)
    assert.match(refused.stderr, message)
  }
})

test('[O-13] org quota shows and limits what an organization may send in a day', async () => {
  const id = scene.sender.organizationId
  assert.match((await aex('org', 'quota', id)).stdout, /^packages_per_day +no limit, \d+ today \(as the/mu)
  const set = await aex('org', 'quota', id, '--packages-per-day', '500', '--threads-per-day', 'unlimited')
  assert.match(
    set.stdout,
    /^packages_per_day +at most 500, \d+ today\nthreads_per_day +no limit, \d+ today$/mu,
  )
  const { stdout } = await aex('org', 'quota', id, '--packages-per-day', 'default', '--json')
  assert.deepEqual(Object.keys(JSON.parse(stdout) as object).slice(-2), [
    'packages_per_day',
    'threads_per_day',
  ])
  assert.match((await aex('org', 'quota', id, '--threads-per-day', 'many')).stderr, /Give a whole number/u)
})

test('org delete shows its plan first, then deletes with a reason and --yes, also under its old name', async () => {
  const id = scene.recipient.organizationId
  const plan = await aex('org', 'delete', id)
  assert.equal(plan.code, 0, plan.stderr)
  assert.match(
    plan.stdout,
    /Removed:[\s\S]*1 clients: Deleted[\s\S]*What is kept, and why:[\s\S]*audit chains/,
  )
  const underOldName = await aex('org', 'end', id)
  assert.deepEqual([underOldName.code, underOldName.stdout], [0, plan.stdout])
  assert.match(
    underOldName.stderr,
    /^aex org end is now aex org delete; the old name ends with the next release\.$/mu,
  )
  assert.match((await aex('org', 'delete', id, '--yes')).stderr, /--reason TEXT/)
  assert.equal((await world.operate('GET', `/organizations/${id}`)).body['status'], 'active')
  const ended = await aex('org', 'delete', id, '--reason', 'contract ended', '--yes', '--json')
  assert.equal(ended.code, 0, ended.stderr)
  const report = JSON.parse(ended.stdout) as Record<string, unknown>
  assert.deepEqual([report['state'], report['reason']], ['finished', 'contract ended'])
  const shown = (await world.operate('GET', `/organizations/${id}`)).body
  assert.equal(shown['status'], 'ended')
})
