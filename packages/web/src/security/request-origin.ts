import type { IncomingHttpHeaders } from 'node:http'

export interface AllowedOrigins {
  /** Such as `https://console.example` or `http://127.0.0.1:4100`, as browsers serialize an origin. */
  readonly origins: readonly string[]
}

export type OriginFault = 'host_not_allowed' | 'origin_not_allowed' | 'cross_site_request'

const SAFE_METHODS = new Set(['GET', 'HEAD'])

/** Origins of a server on this machine alone. */
export function loopbackOrigins(port: number): AllowedOrigins {
  return { origins: ['127.0.0.1', '[::1]', 'localhost'].map((host) => `http://${host}:${port}`) }
}

/**
 * Why a request is refused, or undefined. `Host` defeats DNS rebinding: the browser names the attacker's host, whatever
 * address it resolved to. `Origin` and `Sec-Fetch-Site` (W3C Fetch Metadata) defeat requests made by other sites.
 */
export function originFault(
  request: { readonly method?: string | undefined; readonly headers: IncomingHttpHeaders },
  { origins }: AllowedOrigins,
): OriginFault | undefined {
  const { host, origin, 'sec-fetch-site': site, 'sec-fetch-mode': mode } = request.headers
  const hosts = origins.map((allowed) => new URL(allowed).host)
  if (host === undefined || !hosts.includes(withoutDefaultPort(host, origins))) return 'host_not_allowed'
  if (origin !== undefined && !origins.includes(origin)) return 'origin_not_allowed'
  const isFromHere = site === 'same-origin' || site === 'none'
  if (SAFE_METHODS.has(request.method ?? '')) {
    // A link on another site may lead here; it may not load anything of this site into its own page.
    return site === undefined || isFromHere || mode === 'navigate' ? undefined : 'cross_site_request'
  }
  return origin !== undefined || site === 'same-origin' ? siteFault(site) : 'cross_site_request'
}

function siteFault(site: string | string[] | undefined): OriginFault | undefined {
  return site === undefined || site === 'same-origin' ? undefined : 'cross_site_request'
}

/** `Host` may spell out the port that an origin leaves out (RFC 9110 section 7.2). */
function withoutDefaultPort(host: string, origins: readonly string[]): string {
  const lower = host.toLowerCase()
  const port = origins.some((origin) => origin.startsWith('https:')) ? ':443' : ':80'
  return lower.endsWith(port) ? lower.slice(0, -port.length) : lower
}
