import { hostOf, isLoopback, listenerUrl } from '@agent-exchange/server/settings'
import type { GatewayConfig } from './read-config.ts'

type Addresses = Pick<GatewayConfig, 'host' | 'adminPort' | 'tls' | 'trustedProxies'>

/** Whether proxies end TLS: then only they reach API, desk and webhook receiver. */
export const isBehindProxy = ({ tls, trustedProxies }: Pick<Addresses, 'tls' | 'trustedProxies'>) =>
  tls === undefined && trustedProxies.length > 0

/** Where health and metrics are. Behind a proxy, monitoring is on this machine. */
export const administrationHost = (config: Addresses) => (isBehindProxy(config) ? '127.0.0.1' : config.host)

export interface AdministrationPlace {
  readonly url: string
  /** The name that the certificate must have. Undefined: the connection does not leave this machine. */
  readonly certificateName: string | undefined
}

/** How the machine of the gateway asks it whether it is ready. */
export function administrationPlace(
  config: Addresses & Pick<GatewayConfig, 'publicUrl'>,
): AdministrationPlace {
  const url = listenerUrl(administrationHost(config), config.adminPort, config.tls !== undefined)
  const isLocal = isLoopback(hostOf(new URL(url)))
  // The certificate names the public address.
  return { url, certificateName: isLocal ? undefined : hostOf(new URL(config.publicUrl)) }
}
