import { createPrivateKey, X509Certificate } from 'node:crypto'
import { resolve } from 'node:path'
import type { CaConfig, TlsConfig, TlsFiles } from './config.ts'
import { readNamedFile, SettingError, type SettingsReader } from './settings-reader.ts'

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/gu

export function splitCertificates(pem: string): readonly string[] {
  return pem.match(CERTIFICATE) ?? []
}

/** Reads a PEM file with at least one certificate, all of them valid. */
export function readCertificates(path: string): string {
  const text = readNamedFile(path)
  const blocks = splitCertificates(text)
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

/**
 * Valid combinations of the three TLS settings: none, certificate and key, or all. Behind a declared proxy the client CA
 * may also be set alone: see `readForwardedClientCa`.
 */
export function readTls(settings: SettingsReader): TlsConfig | undefined {
  const certificate = settings.checked('AEX_TLS_CERT', readCertificates)
  const key = settings.checked('AEX_TLS_KEY', readPrivateKey)
  const clientCa = settings.checked('AEX_TLS_CLIENT_CA', readCertificates)
  const [certificateFile, keyFile] = [settings.value('AEX_TLS_CERT'), settings.value('AEX_TLS_KEY')]
  const clientCaFile = settings.value('AEX_TLS_CLIENT_CA')
  if (certificateFile && !keyFile) {
    settings.reject('AEX_TLS_KEY', 'Set it to the private key of AEX_TLS_CERT, or unset both.')
  }
  if (keyFile && !certificateFile) {
    settings.reject('AEX_TLS_CERT', 'Set it to the certificate of AEX_TLS_KEY, or unset both.')
  }
  if (clientCaFile && !certificateFile && !keyFile && !settings.value('AEX_TRUSTED_PROXIES')) {
    settings.reject(
      'AEX_TLS_CLIENT_CA',
      'Set AEX_TLS_CERT and AEX_TLS_KEY too, because mutual TLS needs TLS, or name the TLS-terminating proxy in ' +
        'AEX_TRUSTED_PROXIES.',
    )
  }
  if (!certificateFile || !keyFile || certificate === undefined || key === undefined) return undefined
  if (!isPair(certificate, key)) return settings.reject('AEX_TLS_KEY', MISMATCH)
  const files = {
    certificate: resolve(certificateFile),
    key: resolve(keyFile),
    clientCa: clientCaFile && resolve(clientCaFile),
  }
  return { certificate, key, clientCa, files }
}

/** The authorities that verify forwarded certificates where a proxy terminates TLS. */
export function readForwardedClientCa(settings: SettingsReader): CaConfig | undefined {
  const file = settings.value('AEX_TLS_CLIENT_CA')
  if (file === undefined || settings.value('AEX_TLS_CERT') !== undefined) return undefined
  // A bad file is reported once, by `readTls`.
  const ca = settings.wrong.some(({ variable }) => variable === 'AEX_TLS_CLIENT_CA')
    ? undefined
    : settings.checked('AEX_TLS_CLIENT_CA', readCertificates)
  return ca === undefined ? undefined : { ca, caFile: resolve(file) }
}

/**
 * Reads the files of a running service again.
 *
 * @throws {SettingError} that says which file is unusable
 */
export function readTlsFiles(files: TlsFiles): TlsConfig {
  const certificate = readCertificates(files.certificate)
  const key = readPrivateKey(files.key)
  const clientCa = files.clientCa === undefined ? undefined : readCertificates(files.clientCa)
  if (!isPair(certificate, key)) throw new SettingError(MISMATCH)
  return { certificate, key, clientCa, files }
}

const MISMATCH = 'Use the private key of the first certificate in AEX_TLS_CERT.'

function isPair(certificate: string, key: string): boolean {
  return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
}
