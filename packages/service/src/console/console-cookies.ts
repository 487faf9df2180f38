import { cookieHeader, cookieName, readCookie, usesTls, type SiteAddress } from '@agent-exchange/web'
import type { FastifyReply, FastifyRequest } from 'fastify'

type CookieUse = 'session' | 'sign-in' | 'flash' | 'oidc'

/** Without TLS, browsers share cookies between the ports of a host, so names carry the port. */
export function createCookies(address: SiteAddress) {
  const tls = usesTls(address)
  const nameOf = (use: CookieUse) => (tls ? `aex-${use}` : `aex-${use}-${address.port}`)
  return {
    read: ({ headers }: FastifyRequest, use: CookieUse) =>
      readCookie(headers.cookie, cookieName(nameOf(use), tls)),
    set(reply: FastifyReply, use: CookieUse, value: string, maxAgeSeconds?: number): void {
      const age = maxAgeSeconds === undefined ? {} : { maxAgeSeconds }
      // The identity provider, another site, sends the browser back: a strict cookie would not come along.
      const sameSite = use === 'oidc' ? 'Lax' : 'Strict'
      reply.header('set-cookie', cookieHeader({ name: nameOf(use), value, tls, sameSite, ...age }))
    },
    clear(reply: FastifyReply, use: CookieUse): void {
      this.set(reply, use, '', 0)
    },
  }
}

export type ConsoleCookies = ReturnType<typeof createCookies>
