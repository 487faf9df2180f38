import { readFileSync, statSync } from 'node:fs'
import { CryptoError, importPublicJwk } from '@agent-exchange/crypto'
import { CommandFailure } from '../../failure.ts'
import { readJson } from '../../read-json.ts'

const MAXIMUM_CERTIFICATE_BYTES = 32_768

export interface CredentialOptions {
  readonly jwk?: string
  readonly certificate?: string
  readonly tlsSanDns?: string
}

/** Reads and checks a client's credential locally: a private key never leaves this machine (AUTH-04). */
export async function credentialFrom({ jwk, certificate, tlsSanDns }: CredentialOptions): Promise<object> {
  const given = [jwk, certificate, tlsSanDns].filter((option) => option !== undefined)
  if (given.length !== 1) {
    throw new CommandFailure('Give exactly one of --jwk, --certificate and --tls-san-dns.')
  }
  if (jwk !== undefined) return { public_jwk: await readPublicJwk(jwk) }
  if (certificate !== undefined) return { certificate: readCertificate(certificate) }
  return { tls_san_dns: tlsSanDns }
}

async function readPublicJwk(file: string): Promise<unknown> {
  const read = await readJson(file)
  if (!read.ok) throw new CommandFailure(`The key ${file} ${read.reason}.`)
  try {
    await importPublicJwk(read.value, { use: 'signing' })
  } catch (error) {
    if (!(error instanceof CryptoError)) throw error
    if (error.code !== 'key_private_material') {
      throw new CommandFailure(`The key ${file} cannot be used: ${error.message}`)
    }
    throw new CommandFailure(
      `${file} contains a private key. Nothing was sent.\n` +
        'Give a file with its public members only: kty, crv, x, y.',
    )
  }
  return read.value
}

function readCertificate(file: string): string {
  let pem: string
  try {
    if (statSync(file).size > MAXIMUM_CERTIFICATE_BYTES) throw new Error('too large')
    pem = readFileSync(file, 'utf8')
  } catch {
    throw new CommandFailure(`The certificate ${file} cannot be read, or is too large to be one.`)
  }
  if (/PRIVATE KEY-----/.test(pem)) {
    throw new CommandFailure(`${file} holds a private key. Nothing was sent. Give the certificate alone.`)
  }
  return pem
}
