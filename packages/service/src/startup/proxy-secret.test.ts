import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { selfSignedCertificate, startWorld } from '@agent-exchange/testkit'

const SECRET = 'shared-by-proxy-and-exchange-0123456789'
const WARNING = 'AEX_PROXY_SECRET_FILE'
const trustedProxies = ['127.0.0.1']

test('[AUTH-02] with a shared secret, the address of a proxy is not sufficient to claim a client certificate', async () => {
  await using world = await startWorld({ config: { role: 'api', trustedProxies, proxySecret: SECRET } })
  const { certificate } = await selfSignedCertificate('agent')
  await world.operate('POST', '/organizations', { organization_id: 'org_own', name: 'Own' })
  const client = await world.operate('POST', '/clients', { organization_id: 'org_own', certificate })
  const claim = { 'client-cert': `:${new X509Certificate(certificate).raw.toString('base64')}:` }
  const token = async (headers: Record<string, string>) => {
    const form = { grant_type: 'client_credentials', client_id: String(client.body['client_id']) }
    const response = await fetch(`${world.url}/oauth/token`, {
      method: 'POST',
      headers,
      body: new URLSearchParams(form),
    })
    return { status: response.status, body: (await response.json()) as Record<string, string> }
  }
  const skills = async (headers: Record<string, string>) => {
    const response = await fetch(`${world.url}/v1/skills`, {
      headers: { 'X-Correlation-ID': 'c', ...headers },
    })
    return (await response.json()) as Record<string, unknown>
  }

  assert.equal((await token(claim)).status, 400)
  assert.equal((await token({ ...claim, 'AEX-Proxy-Secret': `${SECRET}x` })).status, 400)
  const given = await token({ ...claim, 'AEX-Proxy-Secret': SECRET })
  assert.equal(given.status, 200, JSON.stringify(given.body))

  const authorization = `Bearer ${given.body['access_token']}`
  const claimed = await skills({ ...claim, authorization })
  assert.deepEqual([claimed['code'], claimed['details']], ['header_invalid', { header: 'AEX-Proxy-Secret' }])
  assert.equal((await skills({ authorization }))['code'], 'client_certificate_mismatch')
  assert.ok('items' in (await skills({ ...claim, authorization, 'AEX-Proxy-Secret': SECRET })))
  assert.ok(!world.logged.join('').includes(SECRET))
  assert.ok(!world.logged.some((line) => line.includes(WARNING)))
})

test('[AUTH-02] proxies that are trusted by address alone still work, and the log warns at start', async () => {
  await using world = await startWorld({ config: { role: 'api', trustedProxies } })
  assert.ok(world.logged.some((line) => line.includes(WARNING) && line.includes('"level":40')))
  assert.equal((await fetch(`${world.url}/openapi.json`)).status, 200)
})
