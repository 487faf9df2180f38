import { createHash, X509Certificate } from 'node:crypto'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { TLSSocket } from 'node:tls'
import type { Clock } from '@agent-exchange/server/clock'
import { trustedPeers } from '@agent-exchange/server/trusted-peers'
import { splitCertificates } from '../config/index.ts'
import { Problem } from '../kernel/problem.ts'
import { checkCertificatePath, type PathFailure } from './certificate-path.ts'
import { PROXY_SECRET_HEADER } from './proxy-secret.ts'

/** The certificate that the client presented on this connection. */
export interface ClientCertificate {
  readonly certificate: X509Certificate
  /** SHA-256 of the DER form, base64url: the x5t#S256 member of `cnf` (RFC 8705 section 3.1). */
  readonly thumbprint: string
  /** Why no trusted CA issued it. A self-signed certificate proves only possession of its key. */
  readonly authorityFailure: () => AuthorityFailure | undefined
}

/** `no_client_ca`: a proxy forwarded the certificate, and AEX_TLS_CLIENT_CA is unset. */
export type AuthorityFailure = PathFailure | 'no_client_ca' | 'chain_invalid' | 'refused_in_handshake'

export interface CertificateReaderSettings {
  readonly trustedProxies: readonly string[]
  /** Whether a request from such an address was forwarded by the proxy. Undefined: the address is sufficient. */
  readonly hasProxySecret?: (request: IncomingMessage) => boolean
  /** PEM text of AEX_TLS_CLIENT_CA, for certificates that a proxy forwards. It may change. */
  readonly clientCa: () => string | undefined
  readonly clock: Clock
}

export type CertificateReader = (request: IncomingMessage) => ClientCertificate | undefined

const HEADER = 'client-cert'
const CHAIN_HEADER = 'client-cert-chain'
/** Intermediate certificates; public chains have one or two. */
const MAXIMUM_CHAIN = 4
/** A typical certificate has a few hundred bytes; this also fits large RSA keys and many names. */
const MAXIMUM_HEADER_CHARACTERS = 16_384
/** RFC 9440 section 2.1 with RFC 9651 section 3.3.5: one byte sequence, no parameters. */
const BYTE_SEQUENCE = /^:([A-Za-z0-9+/]+={0,2}):$/

/**
 * Reads client certificates from the TLS connection or, for trusted proxies only, from `Client-Cert` (RFC 9440). The
 * certificate of a proxy itself is never used as that of its client.
 */
export function createCertificateReader(settings: CertificateReaderSettings): CertificateReader {
  const isProxy = trustedPeers(settings.trustedProxies)
  const { hasProxySecret = () => true } = settings
  const authoritiesOf = parsedAuthorities()
  // Cached per connection, because reading it costs more than the rest of authentication.
  const cache = new WeakMap<Socket, ClientCertificate>()

  return (request) => {
    const { socket } = request
    if (isProxy(socket.remoteAddress)) {
      if (!hasProxySecret(request)) return refuseClaim(request.headers)
      return forwardedCertificate(request.headers, {
        authorities: authoritiesOf(settings.clientCa()),
        now: () => new Date(settings.clock.now()),
      })
    }
    const known = cache.get(socket)
    if (known || !(socket instanceof TLSSocket)) return known
    const certificate = socket.getPeerX509Certificate()
    if (!certificate) return undefined
    const failure = socket.authorized ? undefined : 'refused_in_handshake'
    const read = describe(certificate, () => failure)
    cache.set(socket, read)
    return read
  }
}

/** Any program on the machine of a proxy has its address. A claim without the secret is an error, not ignored silently. */
function refuseClaim(headers: IncomingHttpHeaders): undefined {
  if (headers[HEADER] !== undefined || headers[CHAIN_HEADER] !== undefined)
    throw new Problem('header_invalid', { header: PROXY_SECRET_HEADER })
}

interface Verification {
  /** None: the operator trusts no CA. */
  readonly authorities: readonly X509Certificate[]
  readonly now: () => Date
}

/** The proxy need not have verified the chain: self_signed_tls_client_auth requires one that forwards any certificate. */
function forwardedCertificate(
  headers: IncomingHttpHeaders,
  { authorities, now }: Verification,
): ClientCertificate | undefined {
  const value = headers[HEADER]
  if (value === undefined) return undefined
  const certificate = typeof value === 'string' ? parseByteSequence(value) : undefined
  if (!certificate) throw new Problem('header_invalid', { header: 'Client-Cert' })
  return describe(certificate, () => {
    if (authorities.length === 0) return 'no_client_ca'
    const intermediates = parseChain(headers[CHAIN_HEADER])
    if (!intermediates) return 'chain_invalid'
    return checkCertificatePath({ leaf: certificate, intermediates, authorities, now: now() })
  })
}

/** RFC 9440 section 2.3: a list of byte sequences. */
function parseChain(value: string | string[] | undefined): X509Certificate[] | undefined {
  if (value === undefined) return []
  const items = (Array.isArray(value) ? value.join(',') : value).split(',', MAXIMUM_CHAIN + 1)
  const parsed = items.map((item) => parseByteSequence(item.trim())).filter((each) => each !== undefined)
  return parsed.length === items.length && items.length <= MAXIMUM_CHAIN ? parsed : undefined
}

function parseByteSequence(text: string): X509Certificate | undefined {
  const encoded = text.length <= MAXIMUM_HEADER_CHARACTERS ? BYTE_SEQUENCE.exec(text) : null
  return encoded ? parseDer(Buffer.from(encoded[1] ?? '', 'base64')) : undefined
}

/** Parsed again only when the file has changed. */
function parsedAuthorities(): (pem: string | undefined) => readonly X509Certificate[] {
  let known: { readonly pem: string; readonly certificates: readonly X509Certificate[] } | undefined
  return (pem) => {
    if (pem === undefined) return []
    if (known?.pem !== pem) {
      known = { pem, certificates: splitCertificates(pem).map((block) => new X509Certificate(block)) }
    }
    return known.certificates
  }
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

function describe(
  certificate: X509Certificate,
  authorityFailure: ClientCertificate['authorityFailure'],
): ClientCertificate {
  return { certificate, authorityFailure, thumbprint: certificateThumbprint(certificate) }
}

export function certificateThumbprint(certificate: X509Certificate): string {
  return createHash('sha256').update(certificate.raw).digest('base64url')
}
