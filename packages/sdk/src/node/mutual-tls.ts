import { Agent, fetch as undiciFetch, type RequestInit as UndiciInit } from 'undici'
import type { Fetch } from '../connection/http-transport.ts'

export interface TlsMaterial {
  /** The client's certificate chain, PEM. */
  readonly certificate?: string
  /** The certificate's private key, PEM. */
  readonly key?: string
  /** Authorities that the exchange's certificate is checked against, PEM; the system's unless told. */
  readonly ca?: string
}

/** A `fetch` over connections of its own. Close it when done: they stay open for reuse. */
export interface TlsFetch extends AsyncDisposable {
  readonly fetch: Fetch
  close(): Promise<void>
}

/**
 * A `fetch` that shows a client certificate (RFC 8705), checks the exchange against given authorities, or both.
 *
 * @example
 * const tls = createTlsFetch({ certificate, key, ca })
 * const context = createContext({ baseUrl, clientId, identity, keys, fetch: tls.fetch, authentication: 'mutual_tls' })
 */
export function createTlsFetch({ certificate, key, ca }: TlsMaterial): TlsFetch {
  const dispatcher = new Agent({
    connect: {
      ...(certificate !== undefined && { cert: certificate }),
      ...(key !== undefined && { key }),
      ...(ca !== undefined && { ca }),
    },
  })
  const close = () => dispatcher.close()
  return {
    // The types of undici and of Node's own copy of it differ in name only.
    fetch: (url, init) => undiciFetch(url, { ...init, dispatcher } as unknown as UndiciInit),
    close,
    [Symbol.asyncDispose]: close,
  }
}
