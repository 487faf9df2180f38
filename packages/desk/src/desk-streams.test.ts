import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { html, loopbackOrigins } from '@agent-exchange/web'
import type { DeskAgent } from './desk-agent.ts'
import { createDeskApp } from './desk-app.ts'
import type { DeskHost } from './desk-host.ts'

const WAIT_MS = 10_000

test('an event stream ends with the session of its browser', async () => {
  const server = createServer()
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  let isSignedIn = true
  const host: DeskHost = {
    csrfKey: new Uint8Array(32),
    cookie: { name: 'desk', tls: false },
    origins: loopbackOrigins(port),
    sessions: {
      async find() {
        if (!isSignedIn) return undefined
        // It ends right after the stream has begun.
        isSignedIn = false
        return { id: 's', person: { id: 'p', name: 'Ida', roles: ['reader'] }, signedInAt: '' }
      },
    },
    agents: () => [
      {
        identity: { agentId: 'agent_a', organizationId: 'org_a' },
        fetchEvents: async () => undefined,
        summary: async () => ({}),
      } as unknown as DeskAgent,
    ],
    routes: [],
    enter: async () => undefined,
    signedOut: () => ({ kind: 'page', status: 401, title: 'Sign in', main: html`` }),
    account: () => html``,
    footer: html``,
    withoutAgents: { kind: 'page', title: 'No agent', main: html`` },
  }
  using app = createDeskApp(host)
  server.on('request', (request, response) => void app.handle(request, response))
  try {
    const stream = await fetch(`http://127.0.0.1:${port}/events`, {
      headers: { cookie: 'desk=s', 'sec-fetch-site': 'same-origin' },
      signal: AbortSignal.timeout(WAIT_MS),
    })
    assert.equal(stream.status, 200)
    await stream.text()
  } finally {
    server.closeAllConnections()
    server.close()
  }
})
