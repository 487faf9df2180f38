import { createPrivateKey, randomBytes, type webcrypto } from 'node:crypto'
import type { Extension, X509Certificate } from '@peculiar/x509'

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const NAME_CONSTRAINTS = '2.5.29.30'
const VALID_MS = 24 * 3_600_000
/** Loaded lazily, because most test files need no certificates and the library is large. */
const library = () => import('./x509-library.ts')
type Library = Awaited<ReturnType<typeof library>>

/** A certificate with its private key, both as PEM. */
export interface Identity {
  readonly certificate: string
  readonly key: string
}

/** A temporary certificate authority. */
export interface TestAuthority {
  /** The root certificate as PEM. */
  readonly certificate: string
  /** For a server on loopback, or with the given names. */
  server(...names: string[]): Promise<Identity>
  /** For a client with these DNS names. */
  client(...names: string[]): Promise<Identity>
  /** A subordinate authority. Its certificates are valid only together with its own. */
  intermediate(name: string, options?: AuthorityOptions): Promise<TestAuthority>
}

export interface AuthorityOptions {
  /** Intermediate certificates that may follow. */
  readonly pathLength?: number
  /** A name constraint: the authority may issue only for names below this one. */
  readonly permittedName?: string
}

/** Creates a certificate authority for one test. */
export async function testAuthority(
  name = 'Test CA',
  options: AuthorityOptions = {},
): Promise<TestAuthority> {
  const x509 = await library()
  const keys = await newKeys()
  const root = await x509.X509CertificateGenerator.createSelfSigned({
    ...lifetime(),
    serialNumber: serialNumber(),
    name: `CN=${name}`,
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: authorityExtensions(x509, options),
  })
  return authorityWith(x509, root, keys)
}

function authorityExtensions(
  x509: Library,
  { pathLength = 0, permittedName }: AuthorityOptions,
): Extension[] {
  const constraint =
    permittedName === undefined
      ? []
      : [new x509.Extension(NAME_CONSTRAINTS, true, permittedDns(permittedName))]
  return [
    new x509.BasicConstraintsExtension(true, pathLength, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    ...constraint,
  ]
}

function authorityWith(x509: Library, root: X509Certificate, keys: webcrypto.CryptoKeyPair): TestAuthority {
  const issue = async (names: readonly string[], usage: string): Promise<Identity> => {
    const subject = await newKeys()
    const certificate = await x509.X509CertificateGenerator.create({
      ...lifetime(),
      serialNumber: serialNumber(),
      subject: `CN=${names[0] ?? 'nobody'}`,
      issuer: root.subject,
      signingAlgorithm: ALGORITHM,
      signingKey: keys.privateKey,
      publicKey: subject.publicKey,
      extensions: [...alternativeNames(x509, names), new x509.ExtendedKeyUsageExtension([usage])],
    })
    return { certificate: certificate.toString('pem'), key: await privatePem(subject) }
  }
  return {
    certificate: root.toString('pem'),
    server: (...names) =>
      issue(names.length > 0 ? names : ['localhost', '127.0.0.1'], x509.ExtendedKeyUsage.serverAuth),
    client: (...names) => issue(names, x509.ExtendedKeyUsage.clientAuth),
    async intermediate(name, options = {}) {
      const subject = await newKeys()
      const certificate = await x509.X509CertificateGenerator.create({
        ...lifetime(),
        serialNumber: serialNumber(),
        subject: `CN=${name}`,
        issuer: root.subject,
        signingAlgorithm: ALGORITHM,
        signingKey: keys.privateKey,
        publicKey: subject.publicKey,
        extensions: authorityExtensions(x509, options),
      })
      return authorityWith(x509, certificate, subject)
    },
  }
}

/** RFC 5280 section 4.2.1.10: one permitted subtree of type dNSName. */
function permittedDns(name: string): Uint8Array {
  const base = derElement(0x82, Buffer.from(name, 'ascii'))
  return derElement(0x30, derElement(0xa0, derElement(0x30, base)))
}

/** With a content of fewer than 128 bytes. */
function derElement(tag: number, content: Buffer): Buffer {
  return Buffer.concat([Buffer.of(tag, content.length), content])
}

/** A certificate that the owner of another end-entity certificate signs without being an authority. */
export async function certificateSignedBy(signer: Identity, name: string): Promise<Identity> {
  const x509 = await library()
  const subject = await newKeys()
  const der = createPrivateKey(signer.key).export({ type: 'pkcs8', format: 'der' })
  const certificate = await x509.X509CertificateGenerator.create({
    ...lifetime(),
    serialNumber: serialNumber(),
    subject: `CN=${name}`,
    issuer: new x509.X509Certificate(signer.certificate).subject,
    signingAlgorithm: ALGORITHM,
    signingKey: await crypto.subtle.importKey('pkcs8', der, ALGORITHM, false, ['sign']),
    publicKey: subject.publicKey,
    extensions: alternativeNames(x509, [name]),
  })
  return { certificate: certificate.toString('pem'), key: await privatePem(subject) }
}

/** A self-signed certificate, for self_signed_tls_client_auth. */
export async function selfSignedCertificate(name = 'agent'): Promise<Identity> {
  const x509 = await library()
  const keys = await newKeys()
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    ...lifetime(),
    serialNumber: serialNumber(),
    name: `CN=${name}`,
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: alternativeNames(x509, [name]),
  })
  return { certificate: certificate.toString('pem'), key: await privatePem(keys) }
}

function alternativeNames(x509: Library, names: readonly string[]): Extension[] {
  if (names.length === 0) return []
  const address = /^[\d.]+$|:/
  return [
    new x509.SubjectAlternativeNameExtension(
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
