import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer as createPlainServer, type RequestListener, type Server } from 'node:http'
import { createServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { freePorts, testAuthority } from '@agent-exchange/testkit'
import { createWebhookProbe } from './webhook-probe.ts'

async function listening(server: Server): Promise<AsyncDisposable & { readonly port: number }> {
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

test('the probe of listen says where the address leads, why not here, and what to do', async () => {
  const { certificate: cert, key } = await (await testAuthority()).server()
  const secure = (answer: RequestListener) => listening(createServer({ cert, key }, answer))
  const at = (port: number) => `https://127.0.0.1:${port}/events`
  const probe = createWebhookProbe()
  await using here = await secure((request, response) => {
    probe.note(request)
    response.writeHead(405).end()
  })
  assert.equal(await probe.run(at(here.port), 8443), 'The address leads here.')

  const elsewhere = (url: string) => createWebhookProbe().run(url, 8443)
  await using other = await secure((_request, response) => void response.writeHead(405).end())
  assert.match(
    await elsewhere(at(other.port)),
    /^Another receiver answers at \S+\. Let it forward to port 8443/u,
  )
  await using page = await secure((_request, response) => void response.writeHead(404).end())
  assert.match(
    await elsewhere(at(page.port)),
    /^Something else answers at \S+ \(status 404\)\. Let it forward/u,
  )
  await using plain = await listening(createPlainServer((_request, response) => void response.end()))
  assert.match(await elsewhere(at(plain.port)), /does not speak TLS \(\w+\).*Pass --cert and --key/u)
  const [free = 0] = await freePorts(1)
  assert.match(
    await elsewhere(at(free)),
    /^Nothing listens at 127\.0\.0\.1:\d+ \(ECONNREFUSED\)\. Let it forward/u,
  )
  assert.match(
    await elsewhere('https://nowhere.invalid/events'),
    /^The name nowhere\.invalid is not known here/u,
  )
})
