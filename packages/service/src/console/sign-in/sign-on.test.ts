import assert from 'node:assert/strict'
import { after, test } from 'node:test'
import { freePorts, startWorld, type World } from '@agent-exchange/testkit'
import { CLIENT_ID, CLIENT_SECRET, startIdentityProvider } from '@agent-exchange/testkit/identity-provider'
import { parseRoles } from '../../config/operator-sign-on.ts'
import { SESSION_LIMITS } from '../../operator/session-limits.ts'
import { consoleClient, type ConsoleClient } from '../console-client.fixture.ts'

const [port = 0] = await freePorts(1)
const origin = `http://127.0.0.1:${port}`
const provider = await startIdentityProvider([`${origin}/sign-in/oidc/callback`])
const roles = parseRoles('groups:aex-admins=administrator,aex-ops=operator,staff=viewer')

const worldFor = (issuer: string, operatorPort: number) =>
  startWorld({
    config: {
      operatorPort,
      operatorSignOn: { issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, roles },
    },
  })
const world: World = await worldFor(provider.issuer, port)
after(async () => {
  await world[Symbol.asyncDispose]()
  await provider[Symbol.asyncDispose]()
})

/** Follows redirects at the provider, with its cookies, until it sends the browser back. */
async function passProvider(start: string): Promise<string> {
  const cookies = new Map<string, string>()
  let address = start
  for (let step = 0; step < 10; step++) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const response = await fetch(address, { redirect: 'manual', headers: { cookie } })
    for (const header of response.headers.getSetCookie()) {
      const [name = '', value = ''] = (header.split(';')[0] ?? '').split('=')
      cookies.set(name, value)
    }
    const next = response.headers.get('location')
    assert.ok(next, `${response.status} ${await response.text()}`)
    address = new URL(next, address).href
    if (address.startsWith(origin)) return address.slice(origin.length)
  }
  throw new Error('the provider never sent the browser back')
}

async function begin(client: ConsoleClient, next = '/keys'): Promise<string> {
  const out = await client.get(`/sign-in/oidc?next=${encodeURIComponent(next)}`)
  assert.equal(out.status, 303, out.text)
  return out.location ?? ''
}

test('a person whose group has a role is signed in, and the log names the person', async () => {
  provider.setPerson({
    sub: 'u-1',
    email: 'ada@company.example',
    email_verified: true,
    groups: ['staff', 'aex-ops'],
  })
  const client = consoleClient(origin)
  assert.match((await client.get('/sign-in')).text, /href="\/sign-in\/oidc"/u)
  const out = new URL(await begin(client))
  assert.equal(out.searchParams.get('code_challenge_method'), 'S256')
  assert.ok(out.searchParams.get('state') && out.searchParams.get('nonce'))
  const back = await client.get(await passProvider(out.href))
  assert.equal(back.status, 200, back.text)
  assert.equal(back.headers.get('refresh'), '0; url=/keys')
  const session =
    back.headers.getSetCookie().find((cookie) => cookie.startsWith(`aex-session-${port}=`)) ?? ''
  assert.match(session, /; HttpOnly; SameSite=Strict; Max-Age=28800$/u)
  const page = await client.get('/operators')
  assert.match(page.text, /oidc:ada@company\.example/u)
  assert.equal((await client.get('/sessions')).status, 403)
  const { body } = await world.operate('GET', '/log?actor=oidc%3Aada%40company.example')
  assert.equal((body['items'] as object[]).length, 1)
})

test('failed sign-ins from one address do not lock out others who sign in with the provider from there', async () => {
  provider.setPerson({ sub: 'u-1', groups: ['staff'] })
  const attacker = consoleClient(origin)
  for (let attempt = 0; attempt <= SESSION_LIMITS.failuresPerWindow; attempt++)
    await attacker.signIn('aexop_wrong')
  assert.equal((await attacker.signIn('aexop_wrong')).status, 429)
  await begin(attacker)
  assert.equal((await attacker.get('/sign-in/oidc/callback?code=x&state=y')).status, 403)
  const client = consoleClient(origin)
  assert.equal((await client.get(await passProvider(await begin(client)))).status, 200)
})

test('an address that the provider did not verify is not a name: the subject is', async () => {
  const groups = ['aex-admins']
  provider.setPerson({ sub: 'u-2', email: 'admin@company.example', email_verified: false, groups })
  const client = consoleClient(origin)
  await client.get(await passProvider(await begin(client)))
  assert.match((await client.get('/sessions')).text, /oidc:u-2/u)
})

test('somebody without a role gets a page that says so, and no session', async () => {
  provider.setPerson({ sub: 'u-3', groups: ['others'] })
  const client = consoleClient(origin)
  const back = await client.get(await passProvider(await begin(client)))
  assert.equal(back.status, 403)
  assert.match(back.text, /You have no role here/u)
  assert.equal((await client.get('/')).location, '/sign-in')
})

test('an answer works once, in the browser that began, and not after ten minutes', async () => {
  provider.setPerson({ sub: 'u-4', groups: ['staff'] })
  const [client, other] = [consoleClient(origin), consoleClient(origin)]
  const back = await passProvider(await begin(client))
  await begin(other)
  const foreign = await other.get(back)
  assert.equal(foreign.status, 403)
  assert.match(foreign.text, /not valid/u)
  assert.equal((await client.get(back)).status, 200)
  const again = await client.get(back)
  assert.match(again.text, /took too long/u)

  const slow = consoleClient(origin)
  const late = await passProvider(await begin(slow))
  world.clock.advance(601)
  assert.match((await slow.get(late)).text, /took too long/u)
  assert.equal((await slow.get('/')).location, '/sign-in')
})

test('an ID token with another nonce, and a refusal of the provider, are refused', async () => {
  provider.setPerson({ sub: 'u-5', groups: ['staff'] })
  const client = consoleClient(origin)
  const out = new URL(await begin(client))
  out.searchParams.set('nonce', 'nonce-of-somebody-else')
  const wrong = await client.get(await passProvider(out.href))
  assert.equal(wrong.status, 403)
  assert.match(wrong.text, /not valid/u)

  const denied = new URL(await begin(client))
  const state = denied.searchParams.get('state') ?? ''
  const iss = encodeURIComponent(provider.issuer)
  const refusal = await client.get(
    `/sign-in/oidc/callback?error=access_denied&error_description=%3Cb%3E&state=${state}&iss=${iss}`,
  )
  assert.equal(refusal.status, 403)
  assert.match(refusal.text, /identity provider refused/u)
  assert.doesNotMatch(refusal.text, /<b>/u)
})

test('a forged state cookie and a foreign place to go next are ignored', async () => {
  const client = consoleClient(origin)
  const back = await passProvider(await begin(client))
  const name = `aex-oidc-${port}`
  const sealed = client.cookies.get(name) ?? ''
  client.cookies.set(
    name,
    `${Buffer.from('{"next":"/","expiresAt":"9"}').toString('base64url')}.${sealed.split('.')[1]}`,
  )
  assert.match((await client.get(back)).text, /took too long/u)
  for (const next of ['//evil.example/x', '/..//evil.example/x']) {
    const away = consoleClient(origin)
    const done = await away.get(await passProvider(await begin(away, next)))
    assert.equal(done.headers.get('refresh'), '0; url=/', next)
  }
})

test('while the provider is down the page says so, and sign-in works as soon as it is back', async () => {
  const [free = 0, providerPort = 0] = await freePorts(2)
  await using beside = await worldFor(`http://127.0.0.1:${providerPort}`, free)
  const client = consoleClient(beside.operatorUrl)
  const answer = await client.get('/sign-in/oidc')
  assert.equal(answer.status, 503)
  assert.match(answer.text, /identity provider does not answer/u)
  assert.equal(answer.headers.getSetCookie().length, 0)
  await using back = await startIdentityProvider([`${beside.operatorUrl}/sign-in/oidc/callback`], {
    port: providerPort,
  })
  assert.ok((await client.get('/sign-in/oidc')).location?.startsWith(`${back.issuer}/auth?`))
})
