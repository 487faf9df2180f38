import { createSecureContext, type SecureContextOptions, type Server } from 'node:tls'
import type { Logger } from 'pino'
import { readTlsFiles, SettingError, type TlsConfig, type TlsFiles } from './settings/index.ts'
import type { PeriodicTask } from './periodic.ts'
import { MINIMUM_TLS_VERSION } from './listener-options.ts'

const EVERY_SECONDS = 10

export interface CertificateReloadSettings {
  readonly tls: TlsConfig & { readonly files: TlsFiles }
  /** TLS listeners. Client certificates are verified on the agent listener only. */
  readonly listeners: readonly { readonly server: Server; readonly verifiesClients: boolean }[]
  readonly log: Pick<Logger, 'info' | 'error'>
}

export interface CertificateReload extends PeriodicTask {
  /** PEM text of what the listeners use now. */
  readonly used: () => TlsConfig
}

/**
 * Replaces certificate, key and client CA when their files change. Polling compares contents, so it also follows the
 * symbolic links of mounted Kubernetes secrets. Open connections keep the certificate of their handshake.
 */
export function certificateReload({ tls, listeners, log }: CertificateReloadSettings): CertificateReload {
  let used: TlsConfig = tls
  let refusal: string | undefined

  function replace(next: TlsConfig): void {
    const contexts = listeners.map(({ server, verifiesClients }) => ({
      server,
      options: contextOptions(next, verifiesClients),
    }))
    // All contexts are created first, so that one bad file never leaves the listeners with different certificates.
    for (const { options } of contexts) createSecureContext(options)
    for (const { server, options } of contexts) server.setSecureContext(options)
    used = next
  }

  return {
    name: 'certificate reload',
    everySeconds: EVERY_SECONDS,
    used: () => used,
    async run() {
      try {
        const next = readTlsFiles(tls.files)
        const isChanged =
          next.certificate !== used.certificate || next.key !== used.key || next.clientCa !== used.clientCa
        if (isChanged) replace(next)
        if (isChanged) log.info({ certificate: tls.files.certificate }, 'TLS certificate reloaded')
        refusal = undefined
      } catch (error) {
        // An OpenSSL error may quote the input, so only our own sentences are logged.
        const reason =
          error instanceof SettingError ? error.message : 'OpenSSL refuses the certificate or key.'
        if (reason !== refusal)
          log.error({ reason }, 'TLS files changed and cannot be used; the previous certificate stays in use')
        refusal = reason
      }
    },
  }
}

function contextOptions(
  { certificate, key, clientCa }: TlsConfig,
  verifiesClients: boolean,
): SecureContextOptions {
  return {
    cert: certificate,
    key,
    minVersion: MINIMUM_TLS_VERSION,
    ...(verifiesClients && clientCa !== undefined && { ca: clientCa }),
  }
}
