/** A silent socket, a TLS handshake that does not go on, headers that arrive byte by byte. */
const HEADERS_TIMEOUT_MS = 10_000
/** How often the runtime looks for those; its default would let them stay for another half minute. */
const CHECK_MS = 1_000
/** A connection on which nothing moves, such as that of a peer that does not read its answer. */
const INACTIVITY_MS = 120_000

/** What both listeners ask of their peers, with TLS or without. */
export function listenerOptions(tls: { readonly certificate: string; readonly key: string } | undefined) {
  const http = {
    headersTimeout: HEADERS_TIMEOUT_MS,
    connectionsCheckingInterval: CHECK_MS,
    // Checked by us: the runtime's own answer is empty.
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
      minVersion: 'TLSv1.2' as const,
    },
  }
}
