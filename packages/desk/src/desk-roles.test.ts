import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { after, test } from 'node:test'
import { ExchangeError } from '@agent-exchange/sdk'
import { CSRF_FIELD, csrfToken, html, loopbackOrigins } from '@agent-exchange/web'
import type { DeskAgent } from './desk-agent.ts'
import { createDeskApp } from './desk-app.ts'
import type { HostRoute } from './desk-call.ts'
import type { DeskHost } from './desk-host.ts'
import { DESK_ROLES, hasOneOf, type DeskRole } from './desk-person.ts'
import { AGENT_ROUTES } from './desk-routes.ts'

const csrfKey = new Uint8Array(32)
const reached: string[] = []
/** Says what a page asked for. The exchange is out of reach, so every page ends with that. */
const agent = new Proxy(
  { identity: { agentId: 'agent_a', organizationId: 'org_a' } },
  {
    get(target, name) {
      if (name in target) return Reflect.get(target, name)
      reached.push(String(name))
      throw new ExchangeError('exchange_unreachable')
    },
  },
) as unknown as DeskAgent
const people: HostRoute = {
  method: 'GET',
  path: '/people',
  roles: ['administrator'],
  navigation: 'People',
  handle: async () => ({ kind: 'page', title: 'People', main: html`<p>Ida</p>` }),
}

const server = createServer()
server.listen(0, '127.0.0.1')
await once(server, 'listening')
const { port } = server.address() as AddressInfo
const isRole = (text: string): text is DeskRole => DESK_ROLES.some((role) => role === text)
const host: DeskHost = {
  csrfKey,
  cookie: { name: 'desk', tls: false },
  origins: loopbackOrigins(port),
  sessions: {
    find: async (role = '') =>
      isRole(role)
        ? { id: `session_${role}`, person: { id: 'person_1', name: 'Ida', roles: [role] }, signedInAt: '' }
        : undefined,
  },
  agents: () => [agent],
  routes: [people],
  enter: async () => undefined,
  signedOut: () => ({ kind: 'page', status: 401, title: 'Sign in', main: html`` }),
  account: ({ person }) => html`${person.name}`,
  footer: html``,
  withoutAgents: { kind: 'page', title: 'No agent', main: html`` },
}
const app = createDeskApp(host)
server.on('request', (request, response) => void app.handle(request, response))
after(() => {
  app[Symbol.dispose]()
  server.closeAllConnections()
  server.close()
})

async function ask(role: string, { method, path }: Pick<HostRoute, 'method' | 'path'>, bound = role) {
  const address = path.replace(/:\w+/u, 'id_1')
  const token = csrfToken(csrfKey, `session_${bound} agent_a`)
  const answer = await fetch(`http://127.0.0.1:${port}${address}`, {
    method,
    redirect: 'manual',
    headers: { cookie: `desk=${role}`, 'sec-fetch-site': 'same-origin' },
    ...(method === 'POST' && { body: new URLSearchParams({ [CSRF_FIELD]: token }) }),
  })
  return { status: answer.status, text: await answer.text() }
}

test('every page is for the roles that the table names, and for nobody else', async () => {
  for (const route of [...AGENT_ROUTES, people]) {
    const place = `${route.method} ${route.path}`
    for (const role of DESK_ROLES) {
      reached.length = 0
      const { status, text } = await ask(role, route)
      if (hasOneOf({ roles: [role] }, route.roles)) assert.notEqual(status, 403, `${role} ${place}`)
      else {
        assert.equal(status, 403, `${role} ${place}`)
        assert.match(text, new RegExp(`needs the role ${route.roles.join(' or ')}`, 'u'))
        assert.deepEqual(reached, [], 'refused before the agent is asked')
      }
    }
    assert.equal((await ask('nobody', route)).status, 401, place)
  }
})

test('an auditor and an administrator reach no content', () => {
  const content = /threads|packages|drafts/u
  for (const { path, roles } of AGENT_ROUTES)
    if (content.test(path)) assert.ok(!hasOneOf({ roles }, ['auditor', 'administrator']), path)
})

test('the first page of an auditor asks for threads only, and that of an administrator for nothing', async () => {
  reached.length = 0
  await ask('auditor', { method: 'GET', path: '/' })
  assert.deepEqual(reached, ['threads'])
  reached.length = 0
  const { status, text } = await ask('administrator', { method: 'GET', path: '/' })
  assert.equal(status, 200)
  assert.deepEqual(reached, [])
  assert.match(text, /href="\/people"/u)
  assert.doesNotMatch(text, /href="\/drafts"/u, 'the navigation has what the role may see')
})

test('a form of another session is refused', async () => {
  const { status, text } = await ask('planner', { method: 'POST', path: '/drafts/id_1/discard' }, 'approver')
  assert.equal(status, 403)
  assert.match(text, /not one of this desk/u)
})
