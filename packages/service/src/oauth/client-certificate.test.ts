import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { IncomingMessage } from 'node:http'
import { Socket } from 'node:net'
import { test } from 'node:test'
import {
  certificateSignedBy,
  type Identity,
  selfSignedCertificate,
  testAuthority,
} from '@agent-exchange/testkit'
import fc from 'fast-check'
import { systemClock } from '@agent-exchange/server/clock'
import { Problem } from '../kernel/problem.ts'
import { certificateThumbprint, createCertificateReader } from './client-certificate.ts'

const authority = await testAuthority()
const readerWith = (clientCa: string | undefined, at = new Date()) =>
  createCertificateReader({
    trustedProxies: ['10.0.0.0/8', '::1'],
    clientCa: () => clientCa,
    clock: { ...systemClock, now: () => at.toISOString() },
  })
const read = readerWith(authority.certificate)

const encoded = (pem: string) => `:${new X509Certificate(pem).raw.toString('base64')}:`

/** Why a forwarded leaf is not accepted as issued by a trusted CA. */
function failureOf(leaf: Identity, { chain = '', reader = read } = {}) {
  const request = requestFrom('10.1.2.3', encoded(leaf.certificate))
  if (chain !== '') request.headers['client-cert-chain'] = chain
  return reader(request)?.authorityFailure()
}

function requestFrom(remoteAddress: string, clientCert: string | undefined): IncomingMessage {
  const socket = Object.defineProperty(new Socket(), 'remoteAddress', { value: remoteAddress })
  const request = new IncomingMessage(socket)
  if (clientCert !== undefined) request.headers['client-cert'] = clientCert
  return request
}

const der = async (name: string) => new X509Certificate((await selfSignedCertificate(name)).certificate).raw

test('[AUTH-02] a trusted proxy forwards a certificate as one byte sequence', async () => {
  const certificate = new X509Certificate((await authority.client('a.example')).certificate)
  const found = read(requestFrom('10.1.2.3', `:${certificate.raw.toString('base64')}:`))
  assert.equal(found?.thumbprint, certificateThumbprint(certificate))
  assert.equal(found.authorityFailure(), undefined)
})

test('[AUTH-02] a forwarded certificate of another CA is read but has no authority, whatever the CA is called', async () => {
  const thief = await testAuthority()
  const leaf = await thief.client('a.example')
  assert.equal(failureOf(leaf), 'unknown_issuer')
  assert.equal(failureOf(leaf, { chain: encoded(thief.certificate) }), 'unknown_issuer')
  assert.equal(failureOf(leaf, { chain: encoded(authority.certificate) }), 'unknown_issuer')
  assert.equal(failureOf(await selfSignedCertificate('a.example')), 'unknown_issuer')
})

test('[AUTH-02] without AEX_TLS_CLIENT_CA no forwarded certificate has an authority', async () => {
  const leaf = await authority.client('a.example')
  assert.equal(failureOf(leaf, { reader: readerWith(undefined) }), 'no_client_ca')
})

test('[AUTH-02] an expired, future or server certificate has no authority', async () => {
  const day = 24 * 3_600_000
  const leaf = await authority.client('a.example')
  for (const days of [2, -2]) {
    const reader = readerWith(authority.certificate, new Date(Date.now() + days * day))
    assert.equal(failureOf(leaf, { reader }), 'expired')
  }
  assert.equal(failureOf(await authority.server('a.example')), 'unsuitable')
})

test('[AUTH-02] Client-Cert-Chain leads to a trusted CA within the path length that it permits', async () => {
  const root = await testAuthority('Root', { pathLength: 1 })
  const reader = readerWith(root.certificate)
  const issuing = await root.intermediate('Issuing', { pathLength: 1 })
  const leaf = await issuing.client('a.example')
  assert.equal(failureOf(leaf, { reader, chain: encoded(issuing.certificate) }), undefined)
  assert.equal(failureOf(leaf, { reader }), 'unknown_issuer')
  assert.equal(failureOf(leaf, { reader: readerWith(root.certificate + issuing.certificate) }), undefined)

  const lower = await issuing.intermediate('Lower')
  const chain = [lower, issuing].map(({ certificate }) => encoded(certificate)).join(', ')
  assert.equal(failureOf(await lower.client('a.example'), { reader, chain }), 'unsuitable')
  const crossed = [issuing, lower].map(({ certificate }) => encoded(certificate)).join(', ')
  assert.equal(failureOf(await lower.client('a.example'), { reader, chain: crossed }), 'unknown_issuer')
})

test('[AUTH-02] a client certificate cannot issue another one', async () => {
  const attacker = await authority.client('attacker.example')
  const forged = await certificateSignedBy(attacker, 'victim.example')
  assert.ok(failureOf(forged, { chain: encoded(attacker.certificate) }))
})

test('[AUTH-02] a CA with name constraints, which are not evaluated, has no authority', async () => {
  const root = await testAuthority('Root', { pathLength: 1 })
  const limited = await root.intermediate('Limited', { permittedName: 'a.example' })
  const leaf = await limited.client('victim.example')
  for (const ca of [root.certificate, root.certificate + limited.certificate]) {
    assert.equal(
      failureOf(leaf, { reader: readerWith(ca), chain: encoded(limited.certificate) }),
      'unsuitable',
    )
  }
})

test('[AUTH-02] a chain that is damaged or too long gives no authority', async () => {
  const chain = encoded(authority.certificate)
  const leaf = await (await testAuthority('Another')).client('a.example')
  for (const bad of ['x', `${chain},`, `${chain};p=1`, Array(5).fill(chain).join(', ')]) {
    assert.equal(failureOf(leaf, { chain: bad }), 'chain_invalid')
  }
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
