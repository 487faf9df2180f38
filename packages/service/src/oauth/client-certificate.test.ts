import { selfSignedCertificate, testAuthority } from '@agent-exchange/testkit'
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import fc from 'fast-check'
import { Problem } from '../kernel/problem.ts'
import { certificateThumbprint, createCertificateReader } from './client-certificate.ts'
import { trustedPeers } from './trusted-peers.ts'

const read = createCertificateReader({ trustedProxies: ['10.0.0.0/8', '::1'] })

function requestFrom(remoteAddress: string, clientCert: string | undefined): IncomingMessage {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress })
  const request = new IncomingMessage(socket)
  if (clientCert !== undefined) request.headers['client-cert'] = clientCert
  return request
}

const der = async (name: string) => new X509Certificate((await selfSignedCertificate(name)).certificate).raw

test('[AUTH-02] a trusted proxy forwards a certificate as one byte sequence', async () => {
  const certificate = new X509Certificate((await (await testAuthority()).client('a.example')).certificate)
  const found = read(requestFrom('10.1.2.3', `:${certificate.raw.toString('base64')}:`))
  assert.equal(found?.thumbprint, certificateThumbprint(certificate))
  assert.equal(found?.authorized, true)
})

test('[AUTH-02] a forwarded self-signed certificate is read but not authorized', async () => {
  const found = read(requestFrom('::1', `:${(await der('a')).toString('base64')}:`))
  assert.equal(found?.authorized, false)
})

test('[AUTH-02] the header of any other peer is ignored, even if it is malformed', async () => {
  const value = `:${(await der('a')).toString('base64')}:`
  for (const peer of ['192.0.2.1', '11.0.0.1', '::2', '']) {
    assert.equal(read(requestFrom(peer, value)), undefined)
    assert.equal(read(requestFrom(peer, 'damaged')), undefined)
  }
})

test('[AUTH-02] a header that is not exactly one certificate is refused', async () => {
  const bytes = await der('a')
  const text = bytes.toString('base64')
  const bad = [
    '',
    text,
    `:${text}`,
    `:${text}:;p=1`,
    `:${text}:, :${text}:`,
    `:${bytes.subarray(0, -1).toString('base64')}:`,
    `:${Buffer.concat([bytes, Buffer.of(0)]).toString('base64')}:`,
    `:${Buffer.from(new X509Certificate(bytes).toString()).toString('base64')}:`,
    `:${'A'.repeat(20_000)}:`,
    '::',
  ]
  for (const value of bad) {
    assert.throws(
      () => read(requestFrom('10.0.0.1', value)),
      (error) => error instanceof Problem && error.code === 'header_invalid',
      value.slice(0, 40),
    )
  }
})

test('[AUTH-02] any header of a proxy yields a certificate or a problem', () => {
  const values = fc.oneof(
    fc.string(),
    fc.uint8Array().map((bytes) => `:${Buffer.from(bytes).toString('base64')}:`),
  )
  fc.assert(
    fc.property(values, (value) => {
      assert.throws(() => read(requestFrom('10.0.0.1', value)), Problem)
    }),
  )
})

test('peers are compared as addresses, including IPv4-mapped IPv6 addresses', () => {
  const isOurs = trustedPeers(['10.0.0.0/8', '192.0.2.7', 'fd00::/8'])
  for (const ours of ['10.255.0.1', '192.0.2.7', '::ffff:10.0.0.1', 'fd12::1']) assert.ok(isOurs(ours), ours)
  for (const other of ['11.0.0.1', '192.0.2.8', '::ffff:11.0.0.1', 'fe80::1', 'x', undefined]) {
    assert.ok(!isOurs(other), String(other))
  }
  assert.throws(() => trustedPeers(['somewhere']), /somewhere/)
})
