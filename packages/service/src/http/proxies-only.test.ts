import assert from 'node:assert/strict'
import { request, type IncomingMessage } from 'node:http'
import { once } from 'node:events'
import { test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { startWorld } from '@agent-exchange/testkit'

async function ask(url: string, localAddress: string): Promise<number | undefined> {
  const asked = request(url, { localAddress, agent: false }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

test('[AUTH-01] behind a TLS-terminating proxy, all other peers are refused', async () => {
  await using world = await startWorld({ config: { trustedProxies: ['127.0.0.2'] } })
  const openapi = `${world.url}/openapi.json`
  assert.equal(await ask(openapi, '127.0.0.2'), 200)
  for (const stranger of ['127.0.0.1', '127.0.0.3']) {
    await assert.rejects(ask(openapi, stranger), { code: 'ECONNRESET' })
  }
  // The operator API has no proxies: it listens on loopback or uses TLS itself.
  assert.equal(await ask(`${world.operatorUrl}/readyz`, '127.0.0.1'), 200)
  const isLogged = () => world.logged.some((line) => line.includes('"not_a_proxy":2'))
  for (let tries = 0; tries < 100 && !isLogged(); tries++) await sleep(50)
  assert.ok(isLogged())
})
