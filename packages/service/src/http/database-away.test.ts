import assert from 'node:assert/strict'
import { test } from 'node:test'
import { problemDetails, validatorOf } from '@agent-exchange/protocol'
import { requestToken, startWorld, testDatabase } from '@agent-exchange/testkit'
import { breakableWay } from './breakable-way.fixture.ts'

test('[ERR-01][ERR-03] an unreachable database is a retryable problem on every listener, and requests succeed once it is back', async () => {
  await using database = await testDatabase()
  await using way = await breakableWay(database.url)
  await using world = await startWorld({ config: { databaseUrl: way.url } })
  const organization = await world.organization('patient')
  await organization.token()

  await way.cut()
  const agent = await organization.get('/v1/skills')
  const operator = await fetch(`${world.operatorUrl}/operator/v1/organizations`, {
    headers: { authorization: 'Bearer aexop_anybody' },
  })
  const answers = [
    { status: agent.status, headers: agent.headers, body: agent.body },
    { status: operator.status, headers: operator.headers, body: await operator.json() },
  ]
  for (const { status, headers, body } of answers) {
    assert.deepEqual([status, headers.get('retry-after')], [503, '1'])
    assert.deepEqual(validatorOf(problemDetails)(body), [])
    const { code, retryable, type } = body as Record<string, unknown>
    assert.deepEqual([code, retryable], ['database_unavailable', true])
    assert.match(String(type), /\/database-unavailable$/)
  }
  const page = await fetch(String(agent.body['type']))
  assert.equal(page.status, 200)
  assert.match(await page.text(), /database/)
  const client = {
    baseUrl: world.url,
    clientId: organization.clientId,
    credential: { method: 'private_key_jwt' as const, key: organization.clientKey.privateJwk },
  }
  const isRefused = ({ cause }: { cause?: { status?: number } }) => cause?.status === 503
  await assert.rejects(requestToken(client), isRefused)

  await way.mend()
  assert.equal((await organization.get('/v1/skills')).status, 200)
  assert.equal((await world.operate('GET', '/organizations')).status, 200)
  assert.ok((await requestToken(client)).access_token)
})
