import { createPrivateKey, X509Certificate } from 'node:crypto'
import type { TlsConfig } from './config.ts'
import { readNamedFile, SettingError, type SettingsReader } from './settings-reader.ts'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu

/** Reads a PEM file with at least one certificate, all of them valid. */
export function readCertificates(path: string): string {
  const text = readNamedFile(path)
  const blocks = text.match(CERTIFICATE) ?? []
  if (blocks.length === 0) throw new SettingError(`The file ${path} contains no PEM certificate.`)
  try {
    blocks.map((block) => new X509Certificate(block))
  } catch {
    throw new SettingError(`The file ${path} contains an invalid certificate.`)
  }
  return text
}

function readPrivateKey(path: string): string {
  const text = readNamedFile(path)
  try {
    createPrivateKey(text)
  } catch {
    throw new SettingError(`The file ${path} contains no PEM private key without a passphrase.`)
  }
  return text
}

/** Valid combinations of the three TLS settings: none, certificate and key, or all. */
export function readTls(settings: SettingsReader): TlsConfig | undefined {
  const certificate = settings.checked('AEX_TLS_CERT', readCertificates)
  const key = settings.checked('AEX_TLS_KEY', readPrivateKey)
  const clientCa = settings.checked('AEX_TLS_CLIENT_CA', readCertificates)
  const [hasCertificate, hasKey] = [settings.value('AEX_TLS_CERT'), settings.value('AEX_TLS_KEY')]
  if (hasCertificate && !hasKey) {
    settings.reject('AEX_TLS_KEY', 'Set it to the private key of AEX_TLS_CERT, or unset both.')
  }
  if (hasKey && !hasCertificate) {
    settings.reject('AEX_TLS_CERT', 'Set it to the certificate of AEX_TLS_KEY, or unset both.')
  }
  if (settings.value('AEX_TLS_CLIENT_CA') && !hasCertificate && !hasKey) {
    settings.reject('AEX_TLS_CLIENT_CA', 'Set AEX_TLS_CERT and AEX_TLS_KEY too: mutual TLS needs TLS.')
  }
  if (certificate === undefined || key === undefined) return undefined
  if (!new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))) {
    return settings.reject('AEX_TLS_KEY', 'Use the private key of the first certificate in AEX_TLS_CERT.')
  }
  return { certificate, key, clientCa }
}
