import { X509Certificate } from 'node:crypto'

/** PEM text of what this process uses now. */
export interface UsedCertificates {
  readonly certificate: string | undefined
  readonly clientCa: string | undefined
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu

/** The earliest end of the certificates in a PEM text: a chain is valid until the first of them ends. */
export function expiryOf(pem: string | undefined): string | null {
  const ends = (pem?.match(CERTIFICATE) ?? []).map((block) => Date.parse(new X509Certificate(block).validTo))
  return ends.length === 0 ? null : new Date(Math.min(...ends)).toISOString()
}
