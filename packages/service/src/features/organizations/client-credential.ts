import { X509Certificate } from 'node:crypto'
import { CryptoError, importPublicJwk, jwkThumbprint } from '@agent-exchange/crypto'
import { Problem } from '../../kernel/problem.ts'
import type { ClientCredential } from './client-store.ts'

/** What an operator hands in for a client. */
export interface CredentialInput {
  readonly public_jwk?: object
  readonly certificate?: string
  readonly tls_san_dns?: string
}

// RFC 1123 section 2.1: labels of letters, digits and inner hyphens.
const DNS_NAME =
  /^(?=.{1,253}$)[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?(?:\.[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?)*$/i
const ONE_CERTIFICATE = /^\s*-----BEGIN CERTIFICATE-----[A-Za-z0-9+/=\s]+-----END CERTIFICATE-----\s*$/

/** The one credential in the input; none, several, private or unusable ones are refused (AUTH-04). */
export async function readCredential(input: CredentialInput): Promise<ClientCredential> {
  const { public_jwk, certificate, tls_san_dns } = input
  const given = [public_jwk, certificate, tls_san_dns].filter((credential) => credential !== undefined)
  if (given.length !== 1) throw refused('', 'Give exactly one of public_jwk, certificate and tls_san_dns.')
  if (public_jwk !== undefined) {
    return { authentication: 'private_key_jwt', ...(await readJwk(public_jwk)) }
  }
  if (certificate !== undefined) {
    return { authentication: 'self_signed_tls_client_auth', certificate: readCertificate(certificate) }
  }
  if (!DNS_NAME.test(tls_san_dns ?? '')) {
    throw refused('/tls_san_dns', 'Give one DNS name as it stands in the certificate, without a wildcard.')
  }
  return { authentication: 'tls_client_auth', tls_san_dns: (tls_san_dns ?? '').toLowerCase() }
}

async function readJwk(value: object): Promise<{ public_jwk: string; key_thumbprint: string }> {
  try {
    const { jwk } = await importPublicJwk(value, { use: 'signing' })
    // A key id stays: clients name it in the header of their assertions.
    const kid: unknown = Reflect.get(value, 'kid')
    const named = { ...jwk, ...(typeof kid === 'string' && kid.length <= 256 && { kid }) }
    return { public_jwk: JSON.stringify(named), key_thumbprint: await jwkThumbprint(jwk) }
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error
    const pointer = '/public_jwk'
    if (error.code === 'key_private_material') throw new Problem('private_key_refused', { pointer })
    throw new Problem('public_key_invalid', { pointer, reason: error.code })
  }
}

function readCertificate(pem: string): string {
  const pointer = '/certificate'
  if (/PRIVATE KEY-----/.test(pem)) throw new Problem('private_key_refused', { pointer })
  if (!ONE_CERTIFICATE.test(pem)) throw refused(pointer, 'Give one certificate in PEM form.')
  try {
    return new X509Certificate(pem).toString()
  } catch {
    throw refused(pointer, 'Give one certificate in PEM form; this one cannot be read.')
  }
}

function refused(pointer: string, message: string): Problem {
  return new Problem('validation_failed', { failures: [{ pointer, rule: 'AUTH-02', message }] })
}
