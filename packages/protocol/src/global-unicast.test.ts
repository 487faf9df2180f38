import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { isGlobalUnicast } from './global-unicast.ts'

const GLOBAL = [
  '1.1.1.1',
  '8.8.8.8',
  '93.184.215.14',
  '172.15.255.255',
  '172.32.0.1',
  '100.63.255.255',
  '100.128.0.1',
  '223.255.255.254',
  '2606:4700:4700::1111',
  '2a00:1450:4001:82a::200e',
  '::ffff:8.8.8.8',
  '64:ff9b::8.8.8.8',
  '2002:808:808::1',
  '2606:4700::8.8.8.8',
]
const OTHER = [
  '0.0.0.0',
  '0.1.2.3',
  '10.0.0.1',
  '100.64.0.1',
  '127.0.0.1',
  '127.255.255.254',
  '169.254.169.254',
  '172.16.0.1',
  '172.31.255.255',
  '192.0.0.8',
  '192.0.2.1',
  '192.88.99.1',
  '192.168.1.1',
  '198.18.0.1',
  '198.51.100.1',
  '203.0.113.1',
  '224.0.0.1',
  '240.0.0.1',
  '255.255.255.255',
  '::',
  '::1',
  '::127.0.0.1',
  '::8.8.8.8',
  '::ffff:127.0.0.1',
  '::ffff:7f00:1',
  '::ffff:0:127.0.0.1',
  '::ffff:169.254.169.254',
  '::ffff:10.0.0.1',
  '64:ff9b::127.0.0.1',
  '64:ff9b::a9fe:a9fe',
  '64:ff9b:1::8.8.8.8',
  '64:ff9b:1:ffff:ffff:ffff:ffff:ffff',
  '2002:7f00:1::1',
  '2002:a00:1::1',
  '2001:0:4136:e378:8000:63bf:3fff:fdd2',
  '2001:db8::1',
  '2001:2::1',
  '2001:10::1',
  '2001:20::1',
  '3fff::1',
  '100::1',
  '5f00::1',
  '4000::1',
  'fc00::1',
  'fd12:3456::1',
  'fe80::1',
  'fe80::1%eth0',
  '2606:4700::1%eth0',
  'fec0::1',
  'ff02::1',
  'localhost',
  'example.com',
  '',
  '1.1.1',
  '01.1.1.1',
  '2606:4700:4700::1111::1',
  '2606:4700:4700::256.1.1.1',
  '64:ff9b::8.8.8',
  '[2606:4700:4700::1111]',
]

test('[EVT-06] global unicast addresses are permitted, plain or embedded in IPv6', () => {
  for (const address of GLOBAL) assert.equal(isGlobalUnicast(address), true, address)
})

test('[EVT-06] every other address is refused, plain or embedded in IPv6', () => {
  for (const address of OTHER) assert.equal(isGlobalUnicast(address), false, address)
})

test('[EVT-06] host services of cloud providers are refused even at public addresses', () => {
  const services = [
    '168.63.129.16',
    '::ffff:168.63.129.16',
    '64:ff9b::a83f:8110',
    '2002:a83f:8110::1',
    '192.80.8.124',
    '161.26.0.10',
    '166.8.0.1',
    '166.11.255.254',
    '100.100.100.200',
    '192.0.0.192',
    '169.254.170.2',
    'fd00:ec2::254',
    'fd20:ce::254',
  ]
  for (const address of services) assert.equal(isGlobalUnicast(address), false, address)
  for (const neighbour of ['168.63.129.15', '168.63.129.17', '161.25.255.255', '166.7.255.255', '166.12.0.1'])
    assert.equal(isGlobalUnicast(neighbour), true, neighbour)
})

test('[EVT-06] an embedded IPv4 address gets the same verdict as the plain one', () => {
  fc.assert(
    fc.property(fc.ipV4(), (address) => {
      const [a = 0, b = 0, c = 0, d = 0] = address.split('.').map(Number)
      const [high, low] = [(a * 256 + b).toString(16), (c * 256 + d).toString(16)]
      const wrapped = [`::ffff:${high}:${low}`, `64:ff9b::${high}:${low}`, `2002:${high}:${low}::1`]
      return wrapped.every((each) => isGlobalUnicast(each) === isGlobalUnicast(address))
    }),
  )
})
