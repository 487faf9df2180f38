import assert from 'node:assert/strict'
import { after, before, test } from 'node:test'
import { startWorld, type World } from '@agent-exchange/testkit'
import { consoleClient } from '../console-client.fixture.ts'

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
