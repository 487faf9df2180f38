import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { testAuthority } from '@agent-exchange/testkit'
import { ROOT } from '../../tools/repository/repository-files.ts'

const SCRIPT = join(ROOT, 'deploy/container/health-check.js')
const opened: Server[] = []
after(() => opened.forEach((server) => server.close()))

async function listening(server: Server, host: string, port = 0): Promise<number> {
  opened.push(server)
  server.listen({ host, port })
  await once(server, 'listening')
  return (server.address() as AddressInfo).port
}

async function exitCode(env: Record<string, string>): Promise<number> {
  const [code] = await once(spawn(process.execPath, [SCRIPT, 'gateway'], { env }), 'exit')
  return code as number
}

test('the health check asks the gateway where it listens: on loopback behind proxies, otherwise at its host', async () => {
  const { certificate, key } = await (await testAuthority()).server('gateway.company.example')
  const port = await listening(
    createServer((_request, response) => response.end()),
    '127.0.0.1',
  )
  await listening(
    createTlsServer({ cert: certificate, key }, (_request, response) => response.end()),
    '127.0.0.2',
    port,
  )
  const host = { AEX_GATEWAY_HOST: '127.0.0.2', AEX_GATEWAY_ADMIN_PORT: String(port) }
  const proxies = { AEX_GATEWAY_TRUSTED_PROXIES: '127.0.0.3' }
  const tls = { AEX_GATEWAY_TLS_CERT: '/run/secrets/tls_certificate' }
  assert.equal(await exitCode({ ...host, ...proxies }), 0)
  assert.equal(await exitCode({ ...host, ...tls }), 0)
  assert.equal(await exitCode({ ...host, ...proxies, ...tls }), 0)
  assert.equal(await exitCode(host), 1, 'plain http at the port of TLS')
})
