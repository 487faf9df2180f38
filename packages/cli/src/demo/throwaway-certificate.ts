// The X.509 library needs the reflection API in place before it loads.
// oxlint-disable-next-line import/no-unassigned-import
import 'reflect-metadata'
import {
  ExtendedKeyUsage,
  ExtendedKeyUsageExtension,
  SubjectAlternativeNameExtension,
  X509CertificateGenerator,
} from '@peculiar/x509'
import { KeyObject } from 'node:crypto'

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' }
const VALID_MS = 3_600_000

/** A certificate of a server on this machine with its private key, both as PEM. */
export interface ThrowawayCertificate {
  readonly certificate: string
  readonly key: string
}

/** Self-signed and valid for an hour; clients get it as their certificate authority. */
export async function throwawayCertificate(now: Date): Promise<ThrowawayCertificate> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify'])
  const certificate = await X509CertificateGenerator.createSelfSigned({
    notBefore: new Date(now.getTime() - VALID_MS),
    notAfter: new Date(now.getTime() + VALID_MS),
    name: 'CN=localhost',
    signingAlgorithm: ALGORITHM,
    keys,
    extensions: [
      new SubjectAlternativeNameExtension([
        { type: 'dns', value: 'localhost' },
        { type: 'ip', value: '127.0.0.1' },
      ]),
      new ExtendedKeyUsageExtension([ExtendedKeyUsage.serverAuth]),
    ],
  })
  const key = KeyObject.from(keys.privateKey).export({ type: 'pkcs8', format: 'pem' })
  return { certificate: certificate.toString('pem'), key: String(key) }
}
