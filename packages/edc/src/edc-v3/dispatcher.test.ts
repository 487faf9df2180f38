import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo, LookupFunction } from 'node:net'
import { test } from 'node:test'
import { request } from 'undici'
import { isLoopback, isThisMachine } from '../connector-addresses.ts'
import { dispatcherTo } from './dispatcher.ts'
import { createEdc } from './edc-v3-options.ts'

test('a name of a sender that leads to this machine is connected to by nobody', async () => {
  let requests = 0
  const server = createServer((_, outgoing) => {
    requests++
    outgoing.end('secret of this machine')
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const url = `http://plane.example:${(server.address() as AddressInfo).port}/`
  const lookup = ((_host, options, callback) =>
    'all' in options && options.all
      ? callback(null, [{ address: '127.0.0.1', family: 4 }])
      : callback(null, '127.0.0.1', 4)) as LookupFunction
  await assert.rejects(
    request(url, { dispatcher: dispatcherTo({ elsewhere: true, lookup }) }),
    /this machine/u,
  )
  assert.equal(requests, 0)
  // The same without the guard arrives: the test would notice if nothing ever did.
  const answer = await request(url, { dispatcher: dispatcherTo({ lookup }) })
  await answer.body.dump()
  assert.equal(requests, 1)
  server.closeAllConnections()
  server.close()
})

test('this machine has many names', () => {
  for (const name of [
    '127.0.0.1',
    '127.8.8.8',
    '[::1]',
    'localhost',
    'a.localhost',
    '0.0.0.0',
    '[::]',
    '[::ffff:7f00:1]',
    '::ffff:127.0.0.1',
    '[::ffff:0:0]',
  ])
    assert.equal(isThisMachine(name), true, name)
  for (const name of [
    '10.0.0.1',
    'plane.example',
    '[2001:db8::1]',
    '8.8.8.8',
    '[::ffff:a00:1]',
    '127.example',
  ])
    assert.equal(isThisMachine(name), false, name)
  assert.equal(isLoopback('0.0.0.0'), false)
})

test('data planes on this machine are for connectors on this machine', () => {
  const options = { connectorId: 'c', participantId: 'p', auth: { apiKey: 'k' } }
  const deployed = createEdc({ ...options, managementUrl: 'https://edc.example/management' })
  const developed = createEdc({ ...options, managementUrl: 'http://127.0.0.1:1/management' })
  for (const address of [
    'http://127.0.0.1:9200/',
    'https://2130706433/',
    'https://[::1]/',
    'https://0.0.0.0/',
  ])
    assert.equal(deployed.allowDataPlane(new URL(address)), false, address)
  assert.equal(deployed.allowDataPlane(new URL('https://plane.example/public')), true)
  assert.notEqual(deployed.dataPlanes, deployed.dispatcher)
  assert.equal(developed.allowDataPlane(new URL('http://127.0.0.1:2/public')), true)
})
