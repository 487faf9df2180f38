import { resolve } from 'node:path'
import { readCertificates, readKeyPair, type TlsConfig } from '@agent-exchange/server/settings'
import type { CaConfig } from './config.ts'
import type { ServiceSettings } from './service-settings.ts'

/**
 * Valid combinations of the three TLS settings: none, certificate and key, or all. Behind a declared proxy the client CA
 * may also be set alone: see `readForwardedClientCa`.
 */
export function readTls(settings: ServiceSettings): TlsConfig | undefined {
  const pair = readKeyPair(settings, { certificate: 'AEX_TLS_CERT', key: 'AEX_TLS_KEY' })
  const clientCa = settings.checked('AEX_TLS_CLIENT_CA', readCertificates)
  const clientCaFile = settings.value('AEX_TLS_CLIENT_CA')
  const usesTls = settings.value('AEX_TLS_CERT') ?? settings.value('AEX_TLS_KEY')
  if (clientCaFile && !usesTls && !settings.value('AEX_TRUSTED_PROXIES')) {
    settings.reject(
      'AEX_TLS_CLIENT_CA',
      'Set AEX_TLS_CERT and AEX_TLS_KEY too, because mutual TLS needs TLS, or name the TLS-terminating proxy in ' +
        'AEX_TRUSTED_PROXIES.',
    )
  }
  if (!pair) return undefined
  return { ...pair, clientCa, files: { ...pair.files, clientCa: clientCaFile && resolve(clientCaFile) } }
}

/** The authorities that verify forwarded certificates where a proxy terminates TLS. */
export function readForwardedClientCa(settings: ServiceSettings): CaConfig | undefined {
  const file = settings.value('AEX_TLS_CLIENT_CA')
  if (file === undefined || settings.value('AEX_TLS_CERT') !== undefined) return undefined
  // A bad file is reported once, by `readTls`.
  const ca = settings.wrong.some(({ variable }) => variable === 'AEX_TLS_CLIENT_CA')
    ? undefined
    : settings.checked('AEX_TLS_CLIENT_CA', readCertificates)
  return ca === undefined ? undefined : { ca, caFile: resolve(file) }
}
