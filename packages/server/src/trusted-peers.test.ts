import assert from 'node:assert/strict'
import { test } from 'node:test'
import { trustedPeers } from './trusted-peers.ts'

test('peers are compared as addresses, including IPv4-mapped IPv6 addresses', () => {
  const isOurs = trustedPeers(['10.0.0.0/8', '192.0.2.7', 'fd00::/8'])
  for (const ours of ['10.255.0.1', '192.0.2.7', '::ffff:10.0.0.1', 'fd12::1']) assert.ok(isOurs(ours), ours)
  for (const other of ['11.0.0.1', '192.0.2.8', '::ffff:11.0.0.1', 'fe80::1', 'x', undefined]) {
    assert.ok(!isOurs(other), String(other))
  }
  assert.throws(() => trustedPeers(['somewhere']), /somewhere/)
})
