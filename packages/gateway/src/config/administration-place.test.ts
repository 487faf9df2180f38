import assert from 'node:assert/strict'
import { test } from 'node:test'
import { administrationPlace } from './administration-place.ts'

const config = {
  host: '127.0.0.1',
  adminPort: 8091,
  tls: { certificate: '', key: '' },
  trustedProxies: [],
  publicUrl: 'https://gateway.company.example',
}
const of = (given: object) => Object.values(administrationPlace({ ...config, ...given }))

test('health is asked at an address of this machine, and the certificate is compared with the public name', () => {
  for (const [given, url, name] of [
    [{}, 'https://127.0.0.1:8091', undefined],
    [{ host: 'localhost' }, 'https://localhost:8091', undefined],
    [{ host: '0.0.0.0' }, 'https://localhost:8091', undefined],
    [{ host: '::' }, 'https://localhost:8091', undefined],
    [{ host: '::1' }, 'https://[::1]:8091', undefined],
    [{ host: '10.0.0.5' }, 'https://10.0.0.5:8091', 'gateway.company.example'],
    [{ host: 'fd00::5' }, 'https://[fd00::5]:8091', 'gateway.company.example'],
    [{ tls: undefined }, 'http://127.0.0.1:8091', undefined],
    // With a certificate of its own, the gateway answers others than its proxies too.
    [{ host: '0.0.0.0', trustedProxies: ['10.0.0.1'] }, 'https://localhost:8091', undefined],
    [{ host: '10.0.0.5', tls: undefined, trustedProxies: ['10.0.0.1'] }, 'http://127.0.0.1:8091', undefined],
  ] as const)
    assert.deepEqual(of(given), [url, name])
})
