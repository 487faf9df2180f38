import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startWorld, type World } from '@agent-exchange/testkit'
import { consoleClient, type ConsoleClient } from '../console-client.fixture.ts'

let world: World
const clients: Record<string, ConsoleClient> = {}
before(async () => {
  world = await startWorld({ config: { role: 'all' } })
  for (const role of ['viewer', 'operator']) {
    const { body } = await world.operate('POST', '/operators', { name: role, role })
    const client = consoleClient(world.operatorUrl)
    await client.signIn(String(body['token']))
    clients[role] = client
  }
})
after(async () => {
  await world[Symbol.asyncDispose]()
})

const pageOf = async (path: string, role = 'operator') => (await clients[role]?.get(path))?.text ?? ''

test('a first run says what to do; with the first organization that is gone', async () => {
  for (const path of ['/', '/organizations']) {
    const page = await pageOf(path)
    assert.match(page, /Create your first organization[^]*Invite its agent[^]*Send a package/u, path)
    assert.match(page, /<a href="\/organizations\/new" class="button primary">Create an organization/u, path)
    assert.match(await pageOf(path, 'viewer'), /An operator creates organizations/u)
  }
  await world.operate('POST', '/organizations', { organization_id: 'org_acme', name: 'Acme & Sons' })
  for (const path of ['/', '/organizations'])
    assert.doesNotMatch(await pageOf(path), /Create your first organization/u, path)
  assert.match(await pageOf('/'), /id="activity"/u)
})

test('keys that end in years are not listed; one that ends soon is', async () => {
  const usual = await pageOf('/')
  assert.match(usual, /none ends within 90 days/u)
  assert.doesNotMatch(usual, /in 3,6\d\d days/u)
  const soon = new Date(Date.parse(world.clock.now()) + 80 * 86_400_000).toISOString()
  await world.sql`update platform_key set valid_until = ${soon} where purpose = 'token'`
  assert.match(await pageOf('/'), /<a href="\/keys">token ends <time[^>]*>in (?:79|80) days<\/time><\/a>/u)
})

test('what needs attention is named: whose endpoint, and why', async () => {
  const owner = await world.organization('owner')
  const { body } = await owner.post('/v1/webhook-endpoints', { url: 'https://x.example/', event_types: [] })
  const id = String(body['webhook_endpoint_id'])
  await world.sql`update organization set name = 'Acme & Sons' where organization_id = ${owner.organizationId}`
  await world.operate('POST', `/endpoints/${id}/disable`, { reason: 'moved' })
  const page = await pageOf('/')
  const issue = new RegExp(
    `<a href="/endpoints/${id}"\\s*><bdi>The webhook endpoint of Acme &amp; Sons is disabled: operator: moved\\.`,
    'u',
  )
  assert.match(page, issue)
  const [row = ''] = /<tr role="row">\s*<th role="rowheader"[^]*?<\/tr>/u.exec(page) ?? []
  assert.match(
    row,
    /rowheader[^>]*><div><a href="\/organizations\/[^"]+" title="[^"]+"><bdi>Acme &amp; Sons/u,
  )
})
