import { Agent, fetch as undiciFetch, type RequestInit as UndiciInit } from 'undici'
import type { Fetch } from '../connection/http-transport.ts'

export interface TlsMaterial {
  /** The client's certificate chain, PEM. */
  readonly certificate?: string
  /** The certificate's private key, PEM. */
  readonly key?: string
  /** Authorities for the exchange's certificate, PEM. Defaults to those of the system. */
  readonly ca?: string
}

/** A `fetch` with its own connection pool. Close it when done. */
export interface TlsFetch extends AsyncDisposable {
  readonly fetch: Fetch
  close(): Promise<void>
}

/**
 * A `fetch` that presents a client certificate (RFC 8705), verifies the exchange against given authorities, or both.
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
