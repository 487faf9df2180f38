import assert from 'node:assert/strict'
import { request } from 'node:https'
import type { IncomingHttpHeaders } from 'node:http'
import { test } from 'node:test'
import { startWorld, testAuthority } from '@agent-exchange/testkit'

test('over TLS the cookies belong to this host alone and are never sent in clear', async () => {
  const authority = await testAuthority()
  await using world = await startWorld({
    config: {
      tls: { ...(await authority.server()), clientCa: undefined },
      operatorPublicUrl: 'https://console.example',
    },
  })
  const { port } = new URL(world.operatorUrl)
  const open = (host: string) =>
    new Promise<{ status: number | undefined; headers: IncomingHttpHeaders }>((resolve, reject) => {
      const address = { host: '127.0.0.1', port, path: '/sign-in', headers: { host } }
      const sent = request({ ...address, ca: authority.certificate, servername: 'localhost' }, (response) => {
        response.resume()
        resolve({ status: response.statusCode, headers: response.headers })
      })
      sent.on('error', reject).end()
    })
  for (const host of ['console.example', `127.0.0.1:${port}`]) {
    const { status, headers } = await open(host)
    assert.equal(status, 200, host)
    assert.match(headers['set-cookie']?.[0] ?? '', /^__Host-aex-sign-in=[\w-]{22}; .*; Secure$/u)
    assert.match(headers['strict-transport-security'] ?? '', /max-age=31536000/u)
  }
  assert.equal((await open('console.example:8443')).status, 403)
})
