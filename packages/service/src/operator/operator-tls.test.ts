import assert from 'node:assert/strict'
import { once } from 'node:events'
import { get } from 'node:https'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { test } from 'node:test'
import type { IncomingMessage } from 'node:http'
import { DEFAULT_PROFILE } from '@agent-exchange/protocol'
import { testAuthority, testDatabase } from '@agent-exchange/testkit'
import { openDatabase } from '@agent-exchange/database'
import { createOperatorBodyBudget } from '../http/body-budget.ts'
import { handMadeContext } from '../kernel/hand-made-call.fixture.ts'
import { UNLIMITED } from './operator.fixture.ts'
import { createOperatorServer } from './server.ts'

const notUsed = () => Promise.reject(new Error('not used in this test'))
const NO_KEYS = {
  directory: notUsed,
  rotate: notUsed,
  list: notUsed,
  revoke: notUsed,
  currentKeyId: notUsed,
}

test('with a certificate the operator API accepts TLS only', async () => {
  await using database = await testDatabase()
  const db = openDatabase({ target: database.url, maximumConnections: 2, applicationName: 'test' })
  const authority = await testAuthority()
  const server = createOperatorServer({
    db,
    context: handMadeContext(),
    log: { error: () => undefined },
    webhookKeys: NO_KEYS,
    masterKeys: () => ({ current: new Uint8Array(32) }),
    rotatingKeys: { token: NO_KEYS, statement: NO_KEYS, log: NO_KEYS },
    settings: [],
    metrics: { contentType: 'text/plain', metrics: () => Promise.resolve('') },
    isReady: () => true,
    connections: UNLIMITED,
    bodies: createOperatorBodyBudget(DEFAULT_PROFILE),
    tls: await authority.server(),
  })
  const address = await server.listen({ host: '127.0.0.1', port: 0 })
  const { port } = server.server.address() as AddressInfo
  try {
    const request = get(`https://127.0.0.1:${port}/readyz`, { ca: authority.certificate, agent: false })
    const [response] = (await once(request, 'response')) as [IncomingMessage]
    assert.deepEqual([response.statusCode, JSON.parse(await text(response))], [200, { status: 'ready' }])
    assert.equal(address, `https://127.0.0.1:${port}`)
    await assert.rejects(fetch(`http://127.0.0.1:${port}/readyz`))
  } finally {
    await server.close()
    await db.end()
  }
})
