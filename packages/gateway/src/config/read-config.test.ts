import assert from 'node:assert/strict'
import { test } from 'node:test'
import { ConfigError, type Environment } from '@agent-exchange/server/settings'
import { readGatewayConfig } from './read-config.ts'

function refused(env: Environment): string[] {
  try {
    readGatewayConfig(env)
  } catch (error) {
    if (error instanceof ConfigError) return error.settings.map(({ variable }) => variable)
    throw error
  }
  return []
}

test('a gateway listens beyond its machine with TLS, or behind proxies that end it', () => {
  assert.deepEqual(refused({}), [])
  assert.deepEqual(refused({ AEX_GATEWAY_HOST: '0.0.0.0' }), ['AEX_GATEWAY_HOST'])
  const proxied = { AEX_GATEWAY_HOST: '0.0.0.0', AEX_GATEWAY_TRUSTED_PROXIES: '10.0.0.5, fd00::/8' }
  assert.deepEqual(refused(proxied), ['AEX_GATEWAY_PUBLIC_URL'])
  const named = { ...proxied, AEX_GATEWAY_PUBLIC_URL: 'https://gateway.company.example' }
  assert.deepEqual(refused(named), [])
  assert.deepEqual(readGatewayConfig(named).trustedProxies, ['10.0.0.5', 'fd00::/8'])
  assert.deepEqual(refused({ ...named, AEX_GATEWAY_TRUSTED_PROXIES: 'proxy.company.example' }), [
    'AEX_GATEWAY_TRUSTED_PROXIES',
  ])
})

test('the public URL is https, except on this machine', () => {
  const wrong = ['AEX_GATEWAY_PUBLIC_URL']
  const proxies = { AEX_GATEWAY_HOST: '0.0.0.0', AEX_GATEWAY_TRUSTED_PROXIES: '10.0.0.5' }
  for (const [url, given, expected] of [
    ['http://gateway.company.example', {}, wrong],
    ['http://gateway.company.example', proxies, wrong],
    ['http://192.168.1.5:8090', {}, wrong],
    ['http://[fd00::5]:8090', {}, wrong],
    ['https://gateway.company.example', proxies, []],
    ['http://localhost:8090', {}, []],
    ['http://127.0.0.1:8090', {}, []],
    ['http://[::1]:8090', {}, []],
  ] as const)
    assert.deepEqual(refused({ ...given, AEX_GATEWAY_PUBLIC_URL: url }), expected, url)
})

test('settings that contradict one another are refused by name, all at once', () => {
  assert.deepEqual(
    refused({
      AEX_GATEWAY_PORT: '9000',
      AEX_GATEWAY_ADMIN_PORT: '9000',
      AEX_GATEWAY_PUBLIC_URL: 'https://gateway.company.example',
      AEX_GATEWAY_PUSH_HOSTS: 'gateway.company.example',
      AEX_GATEWAY_DATABASE_DIRECT_URL: 'postgres://localhost/gateway',
      AEX_GATEWAY_TOKEN_ISSUER: 'https://login.company.example',
    }).toSorted(),
    [
      'AEX_GATEWAY_DATABASE_DIRECT_URL',
      'AEX_GATEWAY_PORT',
      'AEX_GATEWAY_PUSH_HOSTS',
      'AEX_GATEWAY_TOKEN_AUDIENCE',
    ],
  )
})
