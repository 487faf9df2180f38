import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { readGatewayConfig } from '@agent-exchange/gateway'
import { readContainerfile } from './containerfile.ts'

test('the image runs the exchange as a user without a name, and writes to one folder', () => {
  const path = new URL('../../deploy/container/Containerfile', import.meta.url)
  const image = readContainerfile(readFileSync(path, 'utf8'))
  assert.equal(image.user, '10001:10001')
  assert.deepEqual(image.volumes, ['/var/lib/agent-exchange'])
  assert.equal(image.environment['AEX_DATA_DIR'], '/var/lib/agent-exchange')
  assert.deepEqual(image.command.slice(-1), ['serve'])
  assert.match(image.healthCheck.join(' '), /^node .*health-check\.js$/u)
})

test('the image of the gateway runs as a user without a name, writes to one folder, and serves with TLS or proxies that end it', () => {
  const path = new URL('../../deploy/container/Containerfile.gateway', import.meta.url)
  const image = readContainerfile(readFileSync(path, 'utf8'))
  assert.equal(image.user, '10001:10001')
  assert.deepEqual(image.volumes, ['/var/lib/agent-exchange-gateway'])
  assert.equal(image.environment['AEX_GATEWAY_DATA_DIR'], '/var/lib/agent-exchange-gateway')
  assert.deepEqual(image.command.slice(-2), ['gateway', 'serve'])
  assert.match(image.healthCheck.join(' '), /^node .*health-check\.js gateway$/u)
  assert.throws(() => readGatewayConfig(image.environment), /AEX_GATEWAY_HOST[^]*needs TLS/u)
  const proxies = {
    AEX_GATEWAY_TRUSTED_PROXIES: '10.0.0.5',
    AEX_GATEWAY_PUBLIC_URL: 'https://gateway.company.example',
  }
  assert.equal(readGatewayConfig({ ...image.environment, ...proxies }).host, '0.0.0.0')
})

test('only the last stage counts', () => {
  const image = readContainerfile(
    'FROM a AS build\nUSER root\nENV A=1\nFROM b\nUSER 1:1\nWORKDIR /w\nENV B=2=3\n' +
      'HEALTHCHECK --interval=1s CMD ["x", "y"]\nENTRYPOINT ["e"]\nCMD ["c"]\n',
  )
  assert.deepEqual(image, {
    user: '1:1',
    workingDirectory: '/w',
    environment: { B: '2=3' },
    command: ['e', 'c'],
    healthCheck: ['x', 'y'],
    volumes: [],
  })
})
