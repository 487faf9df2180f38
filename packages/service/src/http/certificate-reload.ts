import type { Server } from 'node:tls'
import {
  certificateReload,
  type CertificateReload,
  type CertificateReloadSettings,
} from '@agent-exchange/server/certificate-reload'
import type { TlsConfig } from '@agent-exchange/server/settings'
import type { FastifyInstance } from 'fastify'

const listenerOf = (app: FastifyInstance, verifiesClients: boolean) => ({
  // With `https` options, Fastify's server is a TLS server; its type does not say so.
  server: app.server as unknown as Server,
  verifiesClients,
})

export interface Listeners {
  readonly agent: FastifyInstance | undefined
  readonly operator: FastifyInstance
}

/** For the listeners of a service. Undefined: there is no TLS, or its text did not come from files. */
export function reloadListeners(
  tls: TlsConfig | undefined,
  { agent, operator }: Listeners,
  log: CertificateReloadSettings['log'],
): CertificateReload | undefined {
  if (!tls?.files) return undefined
  const { files } = tls
  const listeners = [...(agent ? [listenerOf(agent, true)] : []), listenerOf(operator, false)]
  return certificateReload({ tls: { ...tls, files }, listeners, log })
}
