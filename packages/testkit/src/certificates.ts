// The X.509 library needs the reflection API in place before it loads.
// oxlint-disable-next-line import/no-unassigned-import
import 'reflect-metadata'
import {
  BasicConstraintsExtension,
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  type Extension,
  KeyUsageFlags,
  KeyUsagesExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { randomBytes, type webcrypto } from 'node:crypto'

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const VALID_MS = 24 * 3_600_000

/** A certificate with its private key, both as PEM. */
export interface Identity {
  readonly certificate: string
  readonly key: string
}

/** A throw-away certification authority. */
export interface TestAuthority {
  /** The root certificate as PEM. */
  readonly certificate: string
  /** For a server on loopback, or at the names given. */
  server(...names: string[]): Promise<Identity>
  /** For a client with these DNS names. */
  client(...names: string[]): Promise<Identity>
}

/** A new authority; nothing is kept of it beyond the test. */
export async function testAuthority(name = 'Test CA'): Promise<TestAuthority> {
  const keys = await newKeys()
  const root = await X509CertificateGenerator.createSelfSigned({
    ...lifetime(),
    serialNumber: serialNumber(),
    name: `CN=${name}`,
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new BasicConstraintsExtension(true, 0, true),
      new KeyUsagesExtension(KeyUsageFlags.keyCertSign | KeyUsageFlags.cRLSign, true),
    ],
  })
  const issue = async (names: readonly string[], usage: string): Promise<Identity> => {
    const subject = await newKeys()
    const certificate = await X509CertificateGenerator.create({
      ...lifetime(),
      serialNumber: serialNumber(),
      subject: `CN=${names[0] ?? 'nobody'}`,
      issuer: root.subject,
      signingAlgorithm: ALGORITHM,
      signingKey: keys.privateKey,
      publicKey: subject.publicKey,
      extensions: [...alternativeNames(names), new ExtendedKeyUsageExtension([usage])],
    })
    return { certificate: certificate.toString('pem'), key: await privatePem(subject) }
  }
  return {
    certificate: root.toString('pem'),
    server: (...names) =>
      issue(names.length > 0 ? names : ['localhost', '127.0.0.1'], ExtendedKeyUsage.serverAuth),
    client: (...names) => issue(names, ExtendedKeyUsage.clientAuth),
  }
}

/** A certificate that nobody vouches for, as self_signed_tls_client_auth uses it. */
export async function selfSignedCertificate(name = 'agent'): Promise<Identity> {
  const keys = await newKeys()
  const certificate = await X509CertificateGenerator.createSelfSigned({
    ...lifetime(),
    serialNumber: serialNumber(),
    name: `CN=${name}`,
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: alternativeNames([name]),
  })
  return { certificate: certificate.toString('pem'), key: await privatePem(keys) }
}

function alternativeNames(names: readonly string[]): Extension[] {
  if (names.length === 0) return []
  const address = /^[\d.]+$|:/
  return [
    new SubjectAlternativeNameExtension(
      names.map((value) => ({ type: address.test(value) ? ('ip' as const) : ('dns' as const), value })),
    ),
  ]
}

function lifetime(): { notBefore: Date; notAfter: Date } {
  const now = Date.now()
  return { notBefore: new Date(now - VALID_MS), notAfter: new Date(now + VALID_MS) }
}

function serialNumber(): string {
  // A leading 1 keeps the number positive.
  return `1${randomBytes(8).toString('hex').slice(1)}`
}

function newKeys(): Promise<webcrypto.CryptoKeyPair> {
  return crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
}

async function privatePem({ privateKey }: webcrypto.CryptoKeyPair): Promise<string> {
  const encoded = Buffer.from(await crypto.subtle.exportKey('pkcs8', privateKey)).toString('base64')
  const lines = encoded.match(/.{1,64}/g) ?? []
  return ['-----BEGIN PRIVATE KEY-----', ...lines, '-----END PRIVATE KEY-----', ''].join('\n')
}
