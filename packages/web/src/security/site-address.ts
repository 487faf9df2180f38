import type { AllowedOrigins } from './request-origin.ts'

/** Where a site with people listens, and under which address they reach it. */
export interface SiteAddress {
  readonly host: string
  readonly port: number
  readonly tls: boolean
  /** Of a proxy in front of it. */
  readonly publicUrl: string | undefined
}

/** Addresses under which a browser may use the site. Loopback names belong to nobody else, so they are always among them. */
export function siteOrigins({ host, port, tls, publicUrl }: SiteAddress): AllowedOrigins {
  const scheme = tls ? 'https' : 'http'
  const hosts = ['127.0.0.1', '[::1]', 'localhost', host.includes(':') ? `[${host}]` : host]
  const own = hosts.map((name) => new URL(`${scheme}://${name}:${port}`).origin)
  return { origins: [...new Set(publicUrl === undefined ? own : [publicUrl, ...own])] }
}

/** Over TLS at the listener, or at a proxy in front of it. */
export function usesTls({ tls, publicUrl }: SiteAddress): boolean {
  return tls || publicUrl?.startsWith('https:') === true
}

/**
 * A path of this site to go to next. Anything that a browser could read as another site is the start page. The result
 * is resolved once more, because dot segments can leave a path that begins with two slashes.
 */
export function localPath(text: string | undefined): string {
  const base = 'https://site.invalid'
  const url = text !== undefined && text.startsWith('/') ? URL.parse(text, base) : null
  const path = url?.origin === base ? `${url.pathname}${url.search}` : '/'
  return URL.parse(path, base)?.href === `${base}${path}` ? path : '/'
}

/** The origin that the browser uses. `Host` has been checked against the allowed origins. */
export function requestOrigin(host: string | undefined, address: SiteAddress): string {
  const { publicUrl } = address
  if (publicUrl !== undefined && URL.parse(publicUrl)?.host === host) return publicUrl
  return `${address.tls ? 'https' : 'http'}://${host}`
}
