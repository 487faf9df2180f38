import { cookieHeader, cookieName, readCookie, usesTls, type SiteAddress } from '@agent-exchange/web'

/** One cookie of the desk. */
export interface DeskCookie {
  /** As the server names it; over TLS browsers know it with a prefix. */
  readonly name: string
  read(header: string | undefined): string | undefined
  set(value: string, maxAgeSeconds: number): string
  clear(): string
}

/**
 * Without TLS, browsers share cookies between the ports of a host, so names carry the port. `Lax` only for what has to
 * come along when the identity provider, another site, sends the browser back.
 */
export function cookieFor(address: SiteAddress, use: 'desk' | 'desk-oidc'): DeskCookie {
  const tls = usesTls(address)
  const name = tls ? `aex-${use}` : `aex-${use}-${address.port}`
  const sameSite = use === 'desk-oidc' ? 'Lax' : 'Strict'
  const set = (value: string, maxAgeSeconds: number) =>
    cookieHeader({ name, value, tls, sameSite, maxAgeSeconds })
  return {
    name,
    read: (header) => readCookie(header, cookieName(name, tls)),
    set,
    clear: () => set('', 0),
  }
}
