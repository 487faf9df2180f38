import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startWorld, type World } from '@agent-exchange/testkit'
import { request } from 'undici'
import { consoleClient } from '../console-client.fixture.ts'

const PROBLEM = 'application/problem+json; charset=utf-8'
let world: World
let token = ''
before(async () => {
  world = await startWorld()
  const { body } = await world.operate('POST', '/operators', { name: 'viewer', role: 'viewer' })
  token = String(body['token'])
})
after(async () => {
  await world[Symbol.asyncDispose]()
})

test('without a session every page leads to sign-in, and from there to the page', async () => {
  const client = consoleClient(world.operatorUrl)
  assert.equal((await client.get('/')).location, '/sign-in')
  const wanted = await client.get('/organizations?after=x')
  assert.deepEqual([wanted.status, wanted.location], [303, '/sign-in?next=%2Forganizations%3Fafter%3Dx'])
  const page = await client.get(wanted.location ?? '')
  assert.match(page.text, /name="next" value="\/organizations\?after=x"/u)
  const done = await client.submit('/sign-in', { token, next: '/keys' }, '/sign-in')
  assert.equal(done.location, '/keys')
  assert.equal((await client.get('/keys')).status, 200)
  assert.equal((await client.get('/none')).status, 404)
  assert.equal((await client.submit('/sign-out', {})).location, '/sign-in')
  assert.equal((await client.get('/keys')).status, 303)
})

test('only the navigation of a browser is sent to the sign-in page; a program gets a problem', async () => {
  const answerTo = async (path: string, headers: Record<string, string>, method = 'GET') => {
    // Not fetch, which sets Sec-Fetch-Mode itself.
    const {
      statusCode,
      headers: received,
      body,
    } = await request(world.operatorUrl + path, { method, headers })
    const { 'content-type': type, location } = received
    return { status: statusCode, type, location, text: await body.text() }
  }
  const organization = await world.organization('lost')
  const authorization = `Bearer ${await organization.token()}`
  for (const path of [`/v1/agents/${organization.agentId}`, '/keys', '/events/']) {
    const { status, type, text } = await answerTo(path, { authorization, accept: 'application/json' })
    assert.deepEqual([status, type], [401, PROBLEM])
    const { code, details } = JSON.parse(text) as Record<string, unknown>
    assert.deepEqual(
      [code, details],
      ['access_token_invalid', { reason: 'operator_listener', agent_api: world.url }],
    )
  }
  const script = await answerTo('/keys', { 'sec-fetch-mode': 'cors', accept: 'text/html' })
  assert.deepEqual([script.status, script.type], [401, PROBLEM])
  const plain = await answerTo('/keys', { accept: '*/*' })
  assert.deepEqual([plain.status, plain.type], [401, PROBLEM])
  const posted = await answerTo('/v1/packages', { authorization }, 'POST')
  assert.deepEqual([posted.status, posted.type], [404, PROBLEM])
  const oldBrowser = await answerTo('/keys', { accept: 'text/html,*/*;q=0.8' })
  assert.deepEqual([oldBrowser.status, oldBrowser.location], [303, '/sign-in?next=%2Fkeys'])
})
