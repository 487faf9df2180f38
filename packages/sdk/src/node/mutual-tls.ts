import type { RequestInit as UndiciInit } from 'undici'
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
  const connect = {
    ...(certificate !== undefined && { cert: certificate }),
    ...(key !== undefined && { key }),
    ...(ca !== undefined && { ca }),
  }
  /** Loaded at the first use: a program without certificates of its own needs none of its 100 modules. */
  const load = async () => {
    const { Agent, fetch } = await import('undici')
    return { fetch, dispatcher: new Agent({ connect }) }
  }
  let loaded: ReturnType<typeof load> | undefined
  const close = async () => (await loaded)?.dispatcher.close()
  return {
    async fetch(url, init) {
      const { fetch, dispatcher } = await (loaded ??= load())
      // The types of undici and of Node's own copy of it differ in name only.
      return fetch(url, { ...init, dispatcher } as unknown as UndiciInit)
    },
    close,
    [Symbol.asyncDispose]: close,
  }
}
