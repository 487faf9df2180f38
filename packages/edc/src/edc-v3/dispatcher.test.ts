import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { test } from 'node:test'
import { request } from 'undici'
import { dispatcherTo } from './dispatcher.ts'
import { createEdc } from './edc-v3-options.ts'

/** DNS that gives these addresses. */
function resolvingTo(...addresses: string[]): LookupFunction {
  const found = addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 }))
  return (_host, options, callback) =>
    options.all ? callback(null, found) : callback(null, found[0]?.address ?? '', found[0]?.family)
}

test('[PKG-03] a data plane whose name or address is not public is connected to by nobody', async (t) => {
  let connections = 0
  const server = createServer((_, outgoing) => outgoing.end('secret of this network')).on(
    'connection',
    () => connections++,
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close().closeAllConnections())
  const { port } = server.address() as AddressInfo
  const refused = { code: 'bad_answer', message: /public https address/u }
  for (const addresses of [
    ['127.0.0.1'],
    ['10.0.0.1', '127.0.0.1'],
    ['169.254.169.254'],
    ['::ffff:127.0.0.1'],
  ]) {
    const dispatcher = dispatcherTo({ publicOnly: true, lookup: resolvingTo(...addresses) })
    await assert.rejects(request(`http://plane.example:${port}/`, { dispatcher }), refused)
  }
  // The address of a URL is not resolved.
  for (const host of ['127.0.0.1', '2130706433', '[::ffff:7f00:1]', '0.0.0.0', '10.0.0.1', '[fd00::1]'])
    await assert.rejects(
      request(`http://${host}:${port}/`, { dispatcher: dispatcherTo({ publicOnly: true }) }),
      refused,
      host,
    )
  assert.equal(connections, 0)
  // The same without the guard arrives: the test would notice if nothing ever did.
  const dispatcher = dispatcherTo({ lookup: resolvingTo('127.0.0.1') })
  const { body } = await request(`http://plane.example:${port}/`, { dispatcher })
  await body.dump()
  assert.equal(connections, 1)
})

test('[PKG-03] private data planes are allowed by an explicit option only, whatever the address of the own connector', () => {
  const options = { connectorId: 'c', participantId: 'p', auth: { apiKey: 'k' } }
  const deployed = { ...options, managementUrl: 'https://edc.example/management' }
  const developed = { ...options, managementUrl: 'http://127.0.0.1:1/management' }
  const own = [
    'http://127.0.0.1:9200/',
    'https://2130706433/',
    'https://[::1]/',
    'https://0.0.0.0/',
    'https://10.1.2.3/',
    'https://169.254.169.254/',
    'https://localhost/',
    'https://a.localhost/',
  ]
  for (const given of [deployed, developed]) {
    const edc = createEdc({ ...given, allowDataPlane: () => true })
    for (const address of own) assert.equal(edc.allowDataPlane(new URL(address)), false, address)
    assert.equal(edc.allowDataPlane(new URL('https://plane.example/public')), true)
    assert.notEqual(edc.dataPlanes, edc.dispatcher)
  }
  const allowing = createEdc({ ...developed, allowPrivateDataPlanes: true })
  for (const address of own) assert.equal(allowing.allowDataPlane(new URL(address)), true, address)
  const narrowed = createEdc({ ...deployed, allowDataPlane: ({ hostname }) => hostname === 'a.example' })
  assert.equal(narrowed.allowDataPlane(new URL('https://b.example/')), false)
})
