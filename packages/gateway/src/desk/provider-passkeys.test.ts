import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { softwareAuthenticator } from '../approvals/software-authenticator.fixture.ts'
import { ABSOLUTE_MS, IDLE_MS } from '../people/people-limits.ts'
import { addPerson } from '../people/people.ts'
import { startDesk } from './desk-server.fixture.ts'
import { deskVisitor } from './desk-visitor.fixture.ts'

const desk = await startDesk('localhost')
after(() => desk[Symbol.asyncDispose]())
const { db, clock, origin, provider } = desk
const party = { origin, rpId: 'localhost' }

type Visitor = ReturnType<typeof deskVisitor>

/** The options in the page, as the script of the desk reads them. */
function optionsIn(page: string): { challenge: string } {
  const [, text = ''] = /data-options="([^"]*)"/u.exec(page) ?? []
  return JSON.parse(text.replaceAll('&quot;', '"').replaceAll('&amp;', '&')) as { challenge: string }
}

async function register(visitor: Visitor) {
  const key = softwareAuthenticator(party)
  await visitor.get('/passkeys')
  const asked = await visitor.post('/passkeys/new', { name: 'Laptop' })
  assert.equal(asked.status, 200, asked.text)
  const answer = JSON.stringify(key.create(optionsIn(asked.text)))
  const registered = await visitor.post('/passkeys/register', { name: 'Laptop', answer })
  assert.equal(registered.headers.get('location'), '/passkeys?done=passkey_added', registered.text)
  return key
}

async function signInWith(key: ReturnType<typeof softwareAuthenticator>) {
  const visitor = deskVisitor(origin)
  const asked = await visitor.get('/sign-in/passkey')
  const answer = JSON.stringify(key.get(optionsIn(asked.text)))
  return { visitor, answer: await visitor.post('/sign-in/passkey', { next: '/', answer }) }
}

test('a person of the provider decides with a passkey, and signs in at the provider alone', async () => {
  provider.setPerson({ sub: 'u-10', groups: ['leads'] })
  const ida = deskVisitor(origin)
  await desk.signOn(ida, { again: true })
  const key = await register(ida)
  assert.match((await ida.get('/passkeys')).text, /You sign in with your company account/u)
  const { visitor, answer } = await signInWith(key)
  assert.equal(answer.status, 403)
  assert.match(answer.text, /Sign in with your company account/u)
  assert.equal((await visitor.get('/')).status, 401, 'no session')
})

test('an invited person still signs in with the passkey', async () => {
  const { link } = await addPerson(
    db,
    new Date(clock.now()),
    { name: 'Kim', roles: ['reader'] },
    { kind: 'command', id: 'root' },
  )
  const kim = deskVisitor(origin)
  await kim.enter(link)
  const { visitor, answer } = await signInWith(await register(kim))
  assert.equal(answer.status, 303)
  assert.equal((await visitor.get('/')).status, 200)
})

test('a session that the provider answered from its own registers no passkey, until the provider asks again', async () => {
  provider.setPerson({ sub: 'u-11', groups: ['leads'] })
  const browser = desk.providerBrowser()
  const ole = deskVisitor(origin)
  await desk.signOn(ole, { browser })
  const page = (await ole.get('/passkeys')).text
  assert.match(page, /href="\/sign-in\/oidc\?again&amp;next=%2Fpasskeys"/u)
  assert.doesNotMatch(page, /action="\/passkeys\/new"/u)
  const refused = await ole.post('/passkeys/new', { name: 'Laptop' })
  assert.match(refused.text, /Sign in again/u)
  const left = await desk.leave(ole, { again: true })
  const asked = new URL(left).searchParams
  assert.deepEqual([asked.get('prompt'), asked.get('max_age')], ['login', '0'])
  assert.equal((await ole.get(await browser(left))).status, 200)
  await register(ole)
})

test('an answer for a question that the provider did not ask is refused', async () => {
  provider.setPerson({ sub: 'u-12', groups: ['leads'] })
  const browser = desk.providerBrowser()
  const eva = deskVisitor(origin)
  await desk.signOn(eva, { browser })
  // Whoever has the browser removes the question from the address.
  for (const removed of [['prompt'], ['prompt', 'max_age']]) {
    const left = new URL(await desk.leave(eva, { again: true }))
    for (const name of removed) left.searchParams.delete(name)
    provider.setSignedInAgo(300)
    const back = await eva.get(await browser(left.href))
    provider.setSignedInAgo(0)
    assert.equal(back.status, 403, removed.join())
    assert.match(back.text, /not valid/u)
  }
})

test('a session of a person of the provider ends eight hours after the sign-in, however busy', async () => {
  provider.setPerson({ sub: 'u-13', groups: ['leads'] })
  const liv = deskVisitor(origin)
  await desk.signOn(liv)
  for (let spent = 0; spent < ABSOLUTE_MS - IDLE_MS; spent += IDLE_MS / 2) {
    clock.advance(IDLE_MS / 2_000)
    assert.equal((await liv.get('/')).status, 200)
  }
  clock.advance(IDLE_MS / 1_000)
  assert.equal((await liv.get('/')).status, 401)
})
