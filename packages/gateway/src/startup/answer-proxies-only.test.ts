import assert from 'node:assert/strict'
import { lookup } from 'node:dns/promises'
import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import { test } from 'node:test'
import { until } from '@agent-exchange/testkit'
import { startCompanies } from './two-instances.fixture.ts'

async function ask(url: string, localAddress: string): Promise<number | undefined> {
  const asked = request(url, { localAddress, agent: false }).end()
  const [response] = (await once(asked, 'response')) as [IncomingMessage]
  response.resume()
  return response.statusCode
}

test('behind a proxy that ends TLS, API, desk and webhook receiver answer nobody else', async () => {
  await using companies = await startCompanies()
  await using gateway = await companies.startInstance({
    AEX_GATEWAY_TRUSTED_PROXIES: '127.0.0.2, 10.0.0.0/8',
    AEX_GATEWAY_PUBLIC_URL: 'https://gateway.company.example',
  })
  const { api, webhooks, admin } = gateway.urls
  for (const [url, status] of [
    [`${api}/openapi.json`, 200],
    [`${api}/sign-in`, 200],
    [`${webhooks}/agents/agent_unknown`, 404],
  ] as const) {
    assert.equal(await ask(url, '127.0.0.2'), status, url)
    for (const stranger of ['127.0.0.1', '127.0.0.3'])
      await assert.rejects(ask(url, stranger), { code: 'ECONNRESET' }, url)
  }
  assert.equal(await ask(`${admin}/healthz`, '127.0.0.1'), 200)
  await until('a summary is logged', () => companies.logged.some((line) => line.includes('"closed":')))
})

test('localhost is one address, so that no second server answers without the limits of the first', async () => {
  await using companies = await startCompanies()
  await using gateway = await companies.startInstance({
    AEX_GATEWAY_HOST: 'localhost',
    AEX_GATEWAY_TRUSTED_PROXIES: '127.0.0.2',
    AEX_GATEWAY_PUBLIC_URL: 'https://gateway.company.example',
  })
  const { port } = new URL(gateway.urls.api)
  assert.equal(await ask(`${gateway.urls.api}/openapi.json`, '127.0.0.2'), 200)
  for (const { address, family } of await lookup('localhost', { all: true })) {
    const url = `http://${family === 6 ? `[${address}]` : address}:${port}/openapi.json`
    await assert.rejects(ask(url, address), { code: family === 6 ? 'ECONNREFUSED' : 'ECONNRESET' }, url)
  }
})
