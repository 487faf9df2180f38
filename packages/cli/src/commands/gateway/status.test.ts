import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { readGatewayConfig, runGateway } from '@agent-exchange/gateway'
import { emptyTestDatabase, freePorts, testAuthority } from '@agent-exchange/testkit'
import { aexAt } from '../../aex-here.fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'aex-gateway-status-'))
const database = await emptyTestDatabase()
after(async () => {
  await database[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})
const certificate = join(folder, 'certificate.pem')
const key = join(folder, 'key.pem')
before(async () => {
  const identity = await (await testAuthority()).server('gateway.company.example')
  writeFileSync(certificate, identity.certificate)
  writeFileSync(key, identity.key)
})
const PUBLIC_URL = 'https://gateway.company.example'

async function settings(given: Record<string, string>): Promise<Record<string, string>> {
  const [port, admin, webhooks] = await freePorts(3)
  return {
    AEX_GATEWAY_PORT: String(port),
    AEX_GATEWAY_ADMIN_PORT: String(admin),
    AEX_GATEWAY_WEBHOOK_PORT: String(webhooks),
    AEX_GATEWAY_DATABASE_URL: database.url,
    AEX_GATEWAY_MASTER_KEY: '01'.repeat(32),
    AEX_GATEWAY_PUBLIC_URL: PUBLIC_URL,
    AEX_GATEWAY_LOG_LEVEL: 'silent',
    ...given,
  }
}

test('the status of a running gateway is shown: with TLS at every address, and behind proxies', async () => {
  const tls = { AEX_GATEWAY_TLS_CERT: certificate, AEX_GATEWAY_TLS_KEY: key }
  for (const given of [
    { ...tls, AEX_GATEWAY_HOST: '0.0.0.0' },
    { ...tls, AEX_GATEWAY_HOST: '127.0.0.1' },
    { AEX_GATEWAY_HOST: '127.0.0.2', AEX_GATEWAY_TRUSTED_PROXIES: '127.0.0.3' },
  ]) {
    const env = await settings(given)
    await using gateway = await runGateway(readGatewayConfig(env), {})
    assert.ok(gateway.isReady())
    const { code, stdout, stderr } = await aexAt({ env }, 'gateway', 'status', '--json')
    assert.equal(code, 0, stderr)
    assert.deepEqual(JSON.parse(stdout), { ready: true, agents: [] })
  }
})

test('where no gateway runs, the address and the reason are named', async () => {
  const env = await settings({ AEX_GATEWAY_HOST: '127.0.0.1' })
  const { code, stderr } = await aexAt({ env }, 'gateway', 'status')
  assert.equal(code, 1)
  assert.ok(
    stderr.includes(
      `No gateway answers at http://127.0.0.1:${env['AEX_GATEWAY_ADMIN_PORT']} (ECONNREFUSED). `,
    ),
  )
})
