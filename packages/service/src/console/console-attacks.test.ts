import assert from 'node:assert/strict'
import { after, before, beforeEach, test } from 'node:test'
import { startWorld, type World } from '@agent-exchange/testkit'
import { pages } from './console-pages.ts'
import { routes } from '../operator/routes/index.ts'
import { SESSION_LIMITS } from '../operator/session-limits.ts'
import { consoleClient, csrfTokenOf, type ConsoleClient } from './console-client.fixture.ts'

let world: World
const tokens: Record<string, string> = {}
before(async () => {
  world = await startWorld()
  for (const role of ['viewer', 'operator', 'administrator']) {
    const { body } = await world.operate('POST', '/operators', { name: role, role })
    tokens[role] = String(body['token'])
  }
})
// Each test starts without failed sign-ins.
beforeEach(() => world.sql`delete from sign_in_attempts`)
after(async () => {
  await world?.[Symbol.asyncDispose]()
})

async function signedIn(role: string): Promise<ConsoleClient> {
  const client = consoleClient(world.operatorUrl)
  const answer = await client.signIn(tokens[role] ?? '')
  assert.equal(answer.status, 303, answer.text)
  return client
}

const sessionCookie = (client: ConsoleClient) =>
  [...client.cookies].find(([name]) => name.startsWith('aex-session'))?.[1]

const NEW_OPERATOR = { name: 'mallory', role: 'administrator' }
const operators = async () =>
  (await world.sql`select name from operator order by name`).map(({ name }) => name)

test('a form of another site changes nothing: Origin, Sec-Fetch-Site, token of another session, no token', async () => {
  const client = await signedIn('administrator')
  const other = await signedIn('administrator')
  const existing = await operators()
  const own = csrfTokenOf((await client.get('/operators')).text)
  const foreign = csrfTokenOf((await other.get('/operators')).text)
  const cases: [Record<string, string>, Record<string, string>][] = [
    [{ csrf_token: own }, { origin: 'https://evil.example' }],
    [{ csrf_token: own }, { origin: 'null' }],
    [{ csrf_token: own }, { 'sec-fetch-site': 'cross-site' }],
    [{ csrf_token: foreign }, {}],
    [{}, {}],
    [{ csrf_token: own }, { 'content-type': 'text/plain' }],
  ]
  for (const [fields, headers] of cases) {
    const { status } = await client.post('/operators', { ...NEW_OPERATOR, ...fields }, headers)
    assert.ok(status === 403 || status === 415, `${status} for ${JSON.stringify([fields, headers])}`)
  }
  assert.deepEqual(await operators(), existing)
})

test('a name that resolves to this machine is refused by its Host header (DNS rebinding)', async () => {
  const { port } = new URL(world.operatorUrl)
  const { request } = await import('node:http')
  const status = await new Promise((resolve) => {
    const options = { host: '127.0.0.1', port, path: '/sign-in', headers: { host: `evil.example:${port}` } }
    request(options, (response) => resolve(response.statusCode)).end()
  })
  assert.equal(status, 403)
})

test('no page can be framed, none has inline code, and none is cached', async () => {
  const client = await signedIn('administrator')
  for (const path of ['/', '/operators', '/none', '/sign-in']) {
    const { headers, text } = await client.get(path)
    assert.match(headers.get('content-security-policy') ?? '', /frame-ancestors 'none'/u)
    assert.doesNotMatch(headers.get('content-security-policy') ?? '', /unsafe/u)
    assert.equal(headers.get('x-frame-options'), 'DENY')
    assert.equal(headers.get('cache-control'), 'no-store')
    assert.doesNotMatch(text, /<script(?! src=)|<style|\sstyle=|\son\w+=/u)
  }
})

test('sign-in never takes over a session that was planted beforehand', async () => {
  const planted = consoleClient(world.operatorUrl)
  const { port } = new URL(world.operatorUrl)
  const fixed = 'A'.repeat(43)
  planted.cookies.set(`aex-session-${port}`, fixed)
  await planted.signIn(tokens['viewer'] ?? '')
  const token = sessionCookie(planted)
  assert.notEqual(token, fixed)
  const attacker = consoleClient(world.operatorUrl)
  attacker.cookies.set(`aex-session-${port}`, fixed)
  assert.equal((await attacker.get('/')).location, '/sign-in')
})

test('the cookie is out of reach for scripts and for other sites, and the token is stored as a hash', async () => {
  const client = consoleClient(world.operatorUrl)
  const answer = await client.signIn(tokens['viewer'] ?? '')
  const cookie = answer.headers.getSetCookie().find((each) => each.startsWith('aex-session')) ?? ''
  assert.match(cookie, /; Path=\/; HttpOnly; SameSite=Strict; Max-Age=28800$/u)
  const stored = JSON.stringify([await world.sql`select * from operator_session`, world.logged])
  assert.ok(!stored.includes(sessionCookie(client) ?? '-'))
  assert.ok(!stored.includes(tokens['viewer'] ?? '-'))
})

test('a stolen viewer cookie reads and changes nothing, and stops working when the session is revoked', async () => {
  const victim = await signedIn('viewer')
  const thief = consoleClient(world.operatorUrl)
  for (const [name, value] of victim.cookies) thief.cookies.set(name, value)
  const existing = await operators()
  assert.equal((await thief.submit('/operators', NEW_OPERATOR, '/operators')).status, 403)
  assert.equal((await thief.get('/sessions')).status, 403)
  // The cookie is no token of the API.
  const cookie = [...thief.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const url = `${world.operatorUrl}/operator/v1/organizations`
  assert.equal((await fetch(url, { headers: { cookie } })).status, 401)
  const asBearer = { authorization: `Bearer ${sessionCookie(thief)}` }
  assert.equal((await fetch(url, { headers: asBearer })).status, 401)
  assert.deepEqual(await operators(), existing)

  const administrator = await signedIn('administrator')
  const { body } = await world.operate('GET', '/sessions')
  const items = body['items'] as { session_id: string; operator_name: string }[]
  const session = items.find(({ operator_name }) => operator_name === 'viewer')
  const path = `/sessions/${session?.session_id}`
  const ended = await administrator.submit(`${path}/revoke`, { reason: 'cookie was stolen' }, path)
  assert.equal(ended.location, '/sessions')
  assert.equal((await thief.get('/')).location, '/sign-in')
})

test('every action of the console refuses a role below its own, and so does every route of the API', async () => {
  const viewer = await signedIn('viewer')
  const csrf_token = csrfTokenOf((await viewer.get('/')).text)
  const actions = pages.filter(({ method }) => method === 'POST')
  assert.ok(actions.length >= 4)
  for (const { path } of actions) {
    const { status } = await viewer.post(path.replaceAll(/:\w+/gu, 'x'), { csrf_token, reason: 'try' })
    assert.equal(status, 403, path)
  }
  for (const [role, allowed] of [
    ['viewer', ['viewer']],
    ['operator', ['viewer', 'operator']],
  ] as const) {
    for (const route of routes.filter((each) => !(allowed as readonly string[]).includes(each.role))) {
      const response = await fetch(
        `${world.operatorUrl}/operator/v1${route.path.replaceAll(/:\w+/gu, 'x')}`,
        {
          method: route.method,
          headers: { authorization: `Bearer ${tokens[role]}`, 'content-type': 'application/json' },
          ...(route.method === 'POST' && { body: '{}' }),
        },
      )
      const problem = (await response.json()) as { code: string; details: { required_role: string } }
      assert.equal(response.status, 403, `${role} ${route.method} ${route.path}`)
      assert.equal(problem.details.required_role, route.role)
    }
  }
})

test('a demoted or disabled operator loses it in running sessions at once', async () => {
  const { body } = await world.operate('POST', '/operators', { name: 'temporary', role: 'administrator' })
  const client = consoleClient(world.operatorUrl)
  await client.signIn(String(body['token']))
  assert.equal((await client.get('/sessions')).status, 200)
  await world.operate('POST', '/operators/temporary/role', { role: 'viewer' })
  assert.equal((await client.get('/sessions')).status, 403)
  assert.equal((await client.get('/operators')).status, 200)
  await world.operate('POST', '/operators/temporary/disable', { reason: 'left' })
  assert.equal((await client.get('/operators')).status, 303)
})

test('the last administrator cannot be demoted', async () => {
  await world.sql`update operator set role = 'viewer' where name = 'administrator'`
  const { status, body } = await world.operate('POST', '/operators/admin/role', { role: 'viewer' })
  await world.sql`update operator set role = 'administrator' where name = 'administrator'`
  assert.equal(status, 409)
  assert.deepEqual(body['details'], { state: 'last_active_administrator' })
})

test('markup that operators store is text on every page', async () => {
  const markup = '"><img src=x onerror=alert(1)><script>alert(1)</script>'
  await world.operate('POST', '/organizations', { organization_id: 'org_x', name: 'X', reason: markup })
  await world.operate('POST', '/organizations/org_x/suspend', { reason: markup })
  await world.sql`insert into operator (name, role, token_hash, created_at)
    values (${markup}, 'viewer', '\\x00', now())`
  const client = await signedIn('administrator')
  for (const path of ['/operators', '/operator-log', `/operators/${encodeURIComponent(markup)}`]) {
    const { status, text } = await client.get(path)
    assert.equal(status, 200, path)
    assert.ok(text.includes('&lt;script'), path)
    assert.doesNotMatch(text, /<img src=x|<script>alert/u)
  }
  const refused = await client.submit('/operators', { name: markup, role: 'viewer' }, '/operators')
  assert.equal(refused.status, 422)
  assert.ok(refused.text.includes('value="&quot;&gt;&lt;img'))
  assert.doesNotMatch(refused.text, /<img src=x|<script>alert/u)
  await world.sql`delete from operator where name = ${markup}`
})

test('a flood of wrong tokens is refused over all processes, and locks out nobody with a correct one', async () => {
  await using beside = await startWorld({ beside: world })
  const replicas = [world, beside].map(({ operatorUrl }) => consoleClient(operatorUrl))
  const tries = Array.from({ length: SESSION_LIMITS.failuresPerWindow + 6 }, (_, index) => index)
  const statuses: number[] = []
  for (const index of tries) {
    const client = replicas[index % 2]
    statuses.push((await client?.signIn(`aexop_${'x'.repeat(43)}`))?.status ?? 0)
  }
  assert.equal(statuses.filter((status) => status === 303).length, SESSION_LIMITS.failuresPerWindow)
  assert.equal(statuses.filter((status) => status === 429).length, 6)
  // Behind a proxy an operator has the address of the attacker.
  assert.equal((await consoleClient(world.operatorUrl).signIn(tokens['viewer'] ?? '')).location, '/')
  const refused = await replicas[1]?.signIn('aexop_wrong')
  assert.equal(refused?.status, 429)
  assert.ok(Number(refused?.headers.get('retry-after')) > 0)
  assert.ok((await world.sql`select * from sign_in_attempts`).length <= 2)
  world.clock.advance(SESSION_LIMITS.windowSeconds + 1)
  assert.equal((await replicas[0]?.signIn('aexop_wrong'))?.status, 303)
})

test('a session ends when it is idle and after eight hours; a live region does not keep it alive', async () => {
  const client = await signedIn('viewer')
  const step = SESSION_LIMITS.idleSeconds - 60
  for (let passed = 0; passed + step < SESSION_LIMITS.absoluteSeconds; passed += step) {
    world.clock.advance(step)
    assert.equal((await client.get('/')).status, 200, `after ${passed} seconds`)
  }
  world.clock.advance(step)
  assert.equal((await client.get('/')).location, '/sign-in')

  const idle = await signedIn('viewer')
  for (let round = 0; round < 2; round++) {
    world.clock.advance(SESSION_LIMITS.idleSeconds - 120)
    const { status } = await idle.get('/', { 'sec-fetch-mode': 'cors', 'sec-fetch-site': 'same-origin' })
    assert.equal(status, round === 0 ? 200 : 401)
  }
})

test('a place to go next is a path of the console, whatever is asked for', async () => {
  for (const next of [
    '//evil.example',
    'https://evil.example/',
    '/\\evil.example',
    'javascript:alert(1)',
    '/\t/evil.example',
    // Resolving the dots leaves a path that begins with two slashes.
    '/..//evil.example/',
    '/.//evil.example/',
    '/a/..//evil.example/',
    '/%2e%2e//evil.example/',
    '/.///evil.example/',
    '/..\\/evil.example/',
  ]) {
    const client = consoleClient(world.operatorUrl)
    const answer = await client.submit('/sign-in', { token: tokens['viewer'] ?? '', next }, '/sign-in')
    assert.equal(answer.location, '/', next)
    const signedInAlready = await client.get(`/sign-in?next=${encodeURIComponent(next)}`)
    assert.equal(signedInAlready.location, '/', next)
  }
})

test('oversized, repeated and malformed forms are refused', async () => {
  const client = await signedIn('administrator')
  const big = await client.post('/operators', { name: 'x'.repeat(70_000) })
  assert.equal(big.status, 413)
  const { text } = await client.get('/operators')
  const csrf_token = csrfTokenOf(text)
  const answer = await client.post(
    '/operators',
    { csrf_token, name: 'Not A Name', role: 'viewer' },
    { referer: `${world.operatorUrl}/operators` },
  )
  assert.equal(answer.status, 422)
  assert.match(answer.text, /Nothing was changed/u)
})
