import { createPrivateKey, X509Certificate } from 'node:crypto'
import { resolve } from 'node:path'
import { readNamedFile, SettingError, type SettingsReader } from './settings-reader.ts'

/** PEM text, not file names. */
export interface TlsConfig {
  readonly certificate: string
  readonly key: string
  /** Undefined: no client certificate is requested. */
  readonly clientCa: string | undefined
  /** Where the text came from. The service watches these files; without them it keeps the text. */
  readonly files?: TlsFiles
}

/** Paths of PEM files. */
export interface TlsFiles {
  readonly certificate: string
  readonly key: string
  readonly clientCa: string | undefined
}

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

/** The names of the variables that lead to certificate and key. */
export interface TlsNames<Name extends string> {
  readonly certificate: Name
  readonly key: Name
}

/** Certificate and key of a server: both or neither. */
export function readKeyPair<Name extends string>(
  settings: SettingsReader<Name>,
  names: TlsNames<Name>,
): (Omit<TlsConfig, 'clientCa'> & { readonly files: TlsFiles }) | undefined {
  const certificate = settings.checked(names.certificate, readCertificates)
  const key = settings.checked(names.key, readPrivateKey)
  const [certificateFile, keyFile] = [settings.value(names.certificate), settings.value(names.key)]
  if (certificateFile && !keyFile) {
    settings.reject(names.key, `Set it to the private key of ${names.certificate}, or unset both.`)
  }
  if (keyFile && !certificateFile) {
    settings.reject(names.certificate, `Set it to the certificate of ${names.key}, or unset both.`)
  }
  if (!certificateFile || !keyFile || certificate === undefined || key === undefined) return undefined
  if (!isPair(certificate, key))
    return settings.reject(names.key, `Use the private key of the first certificate in ${names.certificate}.`)
  const files = { certificate: resolve(certificateFile), key: resolve(keyFile), clientCa: undefined }
  return { certificate, key, files }
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
  if (!isPair(certificate, key)) {
    throw new SettingError(`Use the private key of the first certificate in ${files.certificate}.`)
  }
  return { certificate, key, clientCa, files }
}

function isPair(certificate: string, key: string): boolean {
  return new X509Certificate(certificate).checkPrivateKey(createPrivateKey(key))
}
