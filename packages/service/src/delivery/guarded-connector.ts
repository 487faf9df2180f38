import { lookup } from 'node:dns/promises'
import { isIP } from 'node:net'
import { connect, createSecureContext, rootCertificates, type SecureContext, type TLSSocket } from 'node:tls'
import { LRUCache } from 'lru-cache'
import type { buildConnector } from 'undici'
import { isGlobalUnicast } from './address-guard.ts'
import { ConnectionFailure, describeError, errorClassOf } from './connection-failure.ts'
import { CONNECT_LIMIT_MS, MAXIMUM_ADDRESSES_TRIED } from './limits.ts'

/** All addresses of a name. */
export type Resolve = (hostname: string) => Promise<readonly string[]>

export interface ConnectorSettings {
  /** Further authorities, PEM. */
  readonly ca: string | undefined
  /** Private and loopback receivers too: for development and tests. */
  readonly allowPrivate: boolean
  readonly resolve?: Resolve
}

/**
 * TLS sessions of receivers, by name, port and address: a further connection to somebody whose certificate has just been
 * checked costs a fraction of the first. A session ends with its ticket, after hours at most.
 */
const MAXIMUM_SESSIONS = 10_000

export interface Target {
  readonly hostname: string
  readonly port: number
}

const systemResolve: Resolve = async (hostname) =>
  (await lookup(hostname, { all: true, order: 'verbatim' })).map(({ address }) => address)

/**
 * Opens TLS connections to addresses that were looked at: the name is resolved here, each address is judged, and the
 * socket is opened to the judged address itself, so that a second answer of the name server cannot move it. An
 * address in the URL passes no resolver, and is judged all the same.
 */
export function guardedConnect(settings: ConnectorSettings): (target: Target) => Promise<TLSSocket> {
  const { allowPrivate, resolve = systemResolve } = settings
  // One for all connections: reading the authorities takes longer than a handshake.
  const secureContext = createSecureContext({
    minVersion: 'TLSv1.2',
    ...(settings.ca !== undefined && { ca: [...rootCertificates, settings.ca] }),
  })
  const sessions = new LRUCache<string, Buffer>({ max: MAXIMUM_SESSIONS })
  const isAllowed = (address: string) => allowPrivate || isGlobalUnicast(address)

  return async ({ hostname, port }) => {
    const found = isIP(hostname) === 0 ? await resolved(resolve, hostname) : [hostname]
    const allowed = found.filter(isAllowed).slice(0, MAXIMUM_ADDRESSES_TRIED)
    if (allowed.length === 0) {
      const message = 'the address is not a public one'
      throw new ConnectionFailure('blocked_address', message, found[0])
    }
    const limit = CONNECT_LIMIT_MS / allowed.length
    let failure: unknown
    for (const address of allowed) {
      try {
        const socket = await openTls({ address, hostname, port, secureContext, sessions, limit })
        if (isAllowed(socket.remoteAddress ?? '')) return socket
        socket.destroy()
        throw new ConnectionFailure('blocked_address', 'the connected address is not a public one', address)
      } catch (error) {
        failure = error
        // Another address may answer; another certificate it will hardly have.
        if (error instanceof ConnectionFailure && error.errorClass === 'tls') break
      }
    }
    throw failure
  }
}

async function resolved(resolve: Resolve, hostname: string): Promise<readonly string[]> {
  try {
    const { promise, reject } = Promise.withResolvers<never>()
    const timer = setTimeout(() => reject(new Error('the name server took too long')), CONNECT_LIMIT_MS)
    const addresses = await Promise.race([resolve(hostname), promise]).finally(() => clearTimeout(timer))
    if (addresses.length > 0) return addresses
  } catch (error) {
    throw new ConnectionFailure('dns', describeError(error))
  }
  throw new ConnectionFailure('dns', 'the name has no address')
}

interface Opening extends Target {
  readonly address: string
  readonly secureContext: SecureContext
  readonly sessions: LRUCache<string, Buffer>
  readonly limit: number
}

function openTls({ address, hostname, port, secureContext, sessions, limit }: Opening): Promise<TLSSocket> {
  const { promise, resolve, reject } = Promise.withResolvers<TLSSocket>()
  const name = `${hostname} ${port} ${address}`
  const session = sessions.get(name)
  let isConnected = false
  const socket = connect({
    host: address,
    port,
    // By name, whatever the address: SNI and the certificate. An address has no SNI (RFC 6066 section 3).
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

/** The same in the form that undici wants. */
export function undiciConnector(
  open: (target: Target) => Promise<TLSSocket>,
  onOpen: (socket: TLSSocket) => void,
): buildConnector.connector {
  return ({ hostname, protocol, port }, callback) => {
    if (protocol !== 'https:') {
      callback(new ConnectionFailure('blocked_address', 'only https is spoken'), null)
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
