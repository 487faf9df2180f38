import { createHash, X509Certificate } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import { Problem } from '../kernel/problem.ts'
import { trustedPeers } from './trusted-peers.ts'

/** The certificate that the client presented on this connection. */
export interface ClientCertificate {
  readonly certificate: X509Certificate
  /** SHA-256 of the DER form, base64url: the x5t#S256 member of `cnf` (RFC 8705 section 3.1). */
  readonly thumbprint: string
  /** Whether a trusted CA issued it. A self-signed certificate proves only possession of its key. */
  readonly authorized: boolean
}

export type CertificateReader = (request: IncomingMessage) => ClientCertificate | undefined

const HEADER = 'client-cert'
/** A typical certificate has a few hundred bytes; this also fits large RSA keys and many names. */
const MAXIMUM_HEADER_CHARACTERS = 16_384
/** RFC 9440 section 2.1 with RFC 9651 section 3.3.5: one byte sequence, no parameters. */
const BYTE_SEQUENCE = /^:([A-Za-z0-9+/]+={0,2}):$/

/**
 * Reads client certificates from the TLS connection or, for trusted proxies only, from `Client-Cert` (RFC 9440). The
 * certificate of a proxy itself is never used as that of its client.
 */
export function createCertificateReader({
  trustedProxies,
}: {
  readonly trustedProxies: readonly string[]
}): CertificateReader {
  const isProxy = trustedPeers(trustedProxies)
  // Cached per connection, because reading it costs more than the rest of authentication.
  const cache = new WeakMap<Socket, ClientCertificate>()

  return (request) => {
    const { socket } = request
    if (isProxy(socket.remoteAddress)) return forwardedCertificate(request.headers[HEADER])
    const known = cache.get(socket)
    if (known || !(socket instanceof TLSSocket)) return known
    const certificate = socket.getPeerX509Certificate()
    if (!certificate) return undefined
    const read = describe(certificate, socket.authorized)
    cache.set(socket, read)
    return read
  }
}

function forwardedCertificate(value: string | string[] | undefined): ClientCertificate | undefined {
  if (value === undefined) return undefined
  const encoded =
    typeof value === 'string' && value.length <= MAXIMUM_HEADER_CHARACTERS && BYTE_SEQUENCE.exec(value)
  const certificate = encoded ? parseDer(Buffer.from(encoded[1] ?? '', 'base64')) : undefined
  if (!certificate) throw new Problem('header_invalid', { header: 'Client-Cert' })
  // The proxy has verified the chain, but a self-issued certificate has no CA.
  return describe(certificate, certificate.subject !== certificate.issuer)
}

/** Exactly one DER certificate: the parser would also accept PEM and ignore trailing bytes. */
function parseDer(bytes: Buffer): X509Certificate | undefined {
  try {
    const certificate = new X509Certificate(bytes)
    return certificate.raw.equals(bytes) ? certificate : undefined
  } catch {
    return undefined
  }
}

function describe(certificate: X509Certificate, authorized: boolean): ClientCertificate {
  return { certificate, authorized, thumbprint: certificateThumbprint(certificate) }
}

export function certificateThumbprint(certificate: X509Certificate): string {
  return createHash('sha256').update(certificate.raw).digest('base64url')
}
