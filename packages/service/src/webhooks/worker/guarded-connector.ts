import { isIP } from 'node:net'
import { connect, createSecureContext, rootCertificates, type SecureContext, type TLSSocket } from 'node:tls'
import { isGlobalUnicast } from '@agent-exchange/protocol/global-unicast'
import { LRUCache } from 'lru-cache'
import type { buildConnector } from 'undici'
import { ConnectionFailure, describeError, errorClassOf } from './connection-failure.ts'
import { createNameResolver, type Resolve } from './resolve-name.ts'
import { CONNECT_TIMEOUT_MS, MAXIMUM_ADDRESSES_TRIED, MAXIMUM_CACHED } from './webhook-limits.ts'

export interface ConnectorSettings {
  /** Additional certificate authorities, PEM. A function is asked before each connection. */
  readonly ca: string | undefined | (() => string | undefined)
  /** Permits private and loopback receivers, for development and tests. */
  readonly allowPrivate: boolean
  readonly resolve?: Resolve
}

export interface Target {
  readonly hostname: string
  readonly port: number
}

/** Shared by all connections, because parsing the authorities takes longer than a handshake. */
function trustIn(ca: string | undefined) {
  const secureContext = createSecureContext({
    minVersion: 'TLSv1.2',
    ...(ca !== undefined && { ca: [...rootCertificates, ca] }),
  })
  // Resumption costs a fraction of a full handshake.
  // A session is resumed without a certificate, so it must not outlive the authorities that it was verified by.
  return { ca, secureContext, sessions: new LRUCache<string, Buffer>({ max: MAXIMUM_CACHED }) }
}

/**
 * Opens TLS connections to permitted addresses only. The name is resolved once and the socket is opened to the checked
 * address, which prevents DNS rebinding. IP addresses in the URL are checked too.
 */
export function guardedConnect(settings: ConnectorSettings): (target: Target) => Promise<TLSSocket> {
  const { allowPrivate, resolve = createNameResolver() } = settings
  const { ca } = settings
  const currentCa = typeof ca === 'function' ? ca : () => ca
  let trust = trustIn(currentCa())
  const isAllowed = (address: string) => allowPrivate || isGlobalUnicast(address)

  return async ({ hostname, port }) => {
    if (currentCa() !== trust.ca) trust = trustIn(currentCa())
    const { secureContext, sessions } = trust
    const found = isIP(hostname) === 0 ? await resolveInTime(resolve, hostname) : [hostname]
    const allowed = found.filter(isAllowed).slice(0, MAXIMUM_ADDRESSES_TRIED)
    if (allowed.length === 0) {
      const message = 'the address is not a public one'
      throw new ConnectionFailure('blocked_address', message, found[0])
    }
    const limit = CONNECT_TIMEOUT_MS / allowed.length
    let failure: unknown
    for (const address of allowed) {
      try {
        const socket = await openTls({ address, hostname, port, secureContext, sessions, limit })
        if (isAllowed(socket.remoteAddress ?? '')) return socket
        socket.destroy()
        throw new ConnectionFailure('blocked_address', 'the connected address is not a public one', address)
      } catch (error) {
        failure = error
        // All addresses of a name usually present the same certificate, so another one would fail too.
        if (error instanceof ConnectionFailure && error.errorClass === 'tls') break
      }
    }
    throw failure
  }
}

async function resolveInTime(resolve: Resolve, hostname: string): Promise<readonly string[]> {
  try {
    const { promise, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Error('the name server took too long')), CONNECT_TIMEOUT_MS)
    const addresses = await Promise.race([resolve(hostname), promise]).finally(() => clearTimeout(timer))
    if (addresses.length > 0) return addresses
  } catch (error) {
    throw new ConnectionFailure('dns', describeError(error))
  }
  throw new ConnectionFailure('dns', 'the name has no address')
}

interface TlsTarget extends Target {
  readonly address: string
  readonly secureContext: SecureContext
  readonly sessions: LRUCache<string, Buffer>
  readonly limit: number
}

function openTls({ address, hostname, port, secureContext, sessions, limit }: TlsTarget): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>()
  const name = `${hostname} ${port} ${address}`
  const session = sessions.get(name)
  let isConnected = false
  const socket = connect({
    host: address,
    port,
    // The certificate is checked against the name. An IP address must not be sent as SNI (RFC 6066 section 3).
    ...(isIP(hostname) === 0 && { servername: hostname }),
    secureContext,
    ...(session && { session }),
    ALPNProtocols: ['http/1.1'],
  })
  socket.on('session', (next) => sessions.set(name, next))
  const fail = (error: unknown) => {
    clearTimeout(timer)
    socket.destroy()
    sessions.delete(name)
    if (error instanceof ConnectionFailure) reject(error)
    else
      reject(new ConnectionFailure(isConnected ? 'tls' : errorClassOf(error), describeError(error), address))
  }
  const timer = setTimeout(() => {
    fail(new ConnectionFailure('timeout', 'no connection in time', address))
  }, limit)
  socket.setNoDelay(true)
  socket.once('connect', () => (isConnected = true))
  socket.once('error', fail)
  const closed = () => fail(new Error('closed during the handshake'))
  socket.once('close', closed)
  socket.once('secureConnect', () => {
    clearTimeout(timer)
    socket.removeListener('error', fail)
    socket.removeListener('close', closed)
    resolve(socket)
  })
  return promise
}

/** Adapts the connector to undici's interface. */
export function undiciConnector(
  open: (target: Target) => Promise<TLSSocket>,
  onOpen: (socket: TLSSocket) => void,
): buildConnector.connector {
  return ({ hostname, protocol, port }, callback) => {
    if (protocol !== 'https:') {
      callback(new ConnectionFailure('blocked_address', 'only https is supported'), null)
      return
    }
    open({ hostname, port: port === '' ? 443 : Number(port) }).then(
      (socket) => {
        onOpen(socket)
        callback(null, socket)
      },
      (error: unknown) => callback(error instanceof Error ? error : new Error(String(error)), null),
    )
  }
}
