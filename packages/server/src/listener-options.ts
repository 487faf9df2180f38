/** Limits silent sockets, stalled TLS handshakes and slow headers (slowloris). */
const HEADERS_TIMEOUT_MS = 10_000
/** Interval of Node's timeout checks; its default of 30 seconds would keep such sockets open too long. */
const CHECK_MS = 1_000
/** Closes connections without traffic, such as that of a peer that does not read its response. */
const INACTIVITY_MS = 120_000
export const MINIMUM_TLS_VERSION = 'TLSv1.2' as const

/** Server options that both listeners share, with and without TLS. */
export function listenerOptions(tls: { readonly certificate: string; readonly key: string } | undefined) {
  const http = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_MS,
    // requireSingleHost checks it instead, because Node's own 400 response has no problem document.
    requireHostHeader: false,
  }
  return {
    connectionTimeout: INACTIVITY_MS,
    http,
    https: tls && {
      ...http,
      cert: tls.certificate,
      key: tls.key,
      handshakeTimeout: HEADERS_TIMEOUT_MS,
      minVersion: MINIMUM_TLS_VERSION,
    },
  }
}
