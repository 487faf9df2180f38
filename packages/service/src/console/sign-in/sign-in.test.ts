import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startWorld, type World } from '@agent-exchange/testkit'
import { consoleClient } from '../console-client.fixture.ts'

let world: World
const tokens: Record<string, string> = {}
before(async () => {
  world = await startWorld()
  for (const role of ['viewer', 'operator', 'administrator']) {
    const { body } = await world.operate('POST', '/operators', { name: role, role })
    tokens[role] = String(body['token'])
  }
})
after(async () => {
  await world[Symbol.asyncDispose]()
})

async function signedIn(role: string) {
  const client = consoleClient(world.operatorUrl)
  const answer = await client.signIn(tokens[role] ?? '')
  assert.equal(answer.status, 303, answer.text)
  return client
}

test('without a session every page leads to sign-in, and from there to the page', async () => {
  const client = consoleClient(world.operatorUrl)
  assert.equal((await client.get('/')).location, '/sign-in')
  const wanted = await client.get('/organizations?after=x')
  assert.deepEqual([wanted.status, wanted.location], [303, '/sign-in?next=%2Forganizations%3Fafter%3Dx'])
  const page = await client.get(wanted.location ?? '')
  assert.match(page.text, /name="next" value="\/organizations\?after=x"/u)
  const done = await client.submit('/sign-in', { token: tokens['viewer'] ?? '', next: '/keys' }, '/sign-in')
  assert.equal(done.location, '/keys')
  assert.equal((await client.get('/keys')).status, 200)
  assert.equal((await client.get('/none')).status, 404)
  assert.equal((await client.submit('/sign-out', {})).location, '/sign-in')
  assert.equal((await client.get('/keys')).status, 303)
})
