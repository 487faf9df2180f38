import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { test } from 'node:test'
import { type Identity, startWorld, testAuthority } from '@agent-exchange/testkit'

test('[AUTH-02] a service behind a proxy verifies forwarded certificates with AEX_TLS_CLIENT_CA, and logs a hint', async () => {
  const name = 'agent.victim.example'
  const [authority, thief] = [await testAuthority(), await testAuthority()]
  await using world = await startWorld({
    config: {
      role: 'api',
      trustedProxies: ['127.0.0.1'],
      forwardedClientCa: { ca: authority.certificate },
    },
  })
  await world.operate('POST', '/organizations', { organization_id: 'org_victim', name: 'Victim' })
  const client = await world.operate('POST', '/clients', { organization_id: 'org_victim', tls_san_dns: name })
  const statusFor = async ({ certificate }: Identity) => {
    const { raw } = new X509Certificate(certificate)
    const { status } = await fetch(`${world.url}/oauth/token`, {
      method: 'POST',
      headers: { 'client-cert': `:${raw.toString('base64')}:` },
      body: new URLSearchParams({
        grant_type: 'client_credentials',
        client_id: String(client.body['client_id']),
      }),
    })
    return status
  }
  assert.equal(await statusFor(await thief.client(name)), 401)
  const refused = world.logged.find((line) => line.includes('token refused')) ?? ''
  assert.match(refused, /"certificate":"unknown_issuer","hint":".*AEX_TLS_CLIENT_CA/u)
  assert.equal(await statusFor(await authority.client(name)), 200)
})
