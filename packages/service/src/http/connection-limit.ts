import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import { createConnectionQueue, type ConnectionQueue, type Standing } from './connection-queue.ts'

export interface ConnectionRules {
  readonly total: number
  readonly perAddress: number
  /** Peers that hold the connections of many clients: only the total limits them. */
  readonly isProxy: (address: string | undefined) => boolean
  /** Others than these proxies are not answered: between them and us nothing is encrypted. */
  readonly proxiesOnly: boolean
  readonly onLimit: (outcome: LimitOutcome) => void
}

/** A connection was closed for a newcomer; no connection was worth less than the newcomer; the peer is no proxy. */
export type LimitOutcome = 'closed_for_another' | 'refused' | 'not_a_proxy'

interface Connection {
  readonly socket: Socket
  /** Undefined: a proxy's. */
  readonly address: string | undefined
  isAuthenticated: boolean
  requests: number
  standing: Standing
  readonly authenticate: () => void
}

const connections = new WeakMap<Socket, Connection>()

/** From now on the connection of this socket is an authenticated caller's. */
export function noteAuthenticated(socket: Socket): void {
  connections.get(socket)?.authenticate()
}

/**
 * O-13: when the limit is reached, a newcomer takes the place of the connection that is worth least, so that silent
 * sockets, however many, keep nobody out. A request of an authenticated caller is never cut off.
 */
export function limitConnections(server: Server, rules: ConnectionRules): void {
  const all = createConnectionQueue<Connection>()
  const byAddress = new Map<string, ConnectionQueue<Connection>>()
  const open = new Map<string, Connection>()

  const queuesOf = ({ address }: Connection) => {
    const own = address === undefined ? undefined : byAddress.get(address)
    return own ? [all, own] : [all]
  }
  const move = (connection: Connection) => {
    if (connection.socket.destroyed) return
    const standing = standingOf(connection)
    for (const queue of queuesOf(connection)) {
      queue.remove(connection, connection.standing)
      queue.add(connection, standing)
    }
    connection.standing = standing
  }
  const remove = (connection: Connection) => {
    for (const queue of queuesOf(connection)) queue.remove(connection, connection.standing)
    if (connection.address !== undefined && byAddress.get(connection.address)?.size() === 0)
      byAddress.delete(connection.address)
  }
  /** True where the queue has room now. */
  const makeRoom = (queue: ConnectionQueue<Connection>, limit: number): boolean => {
    if (queue.size() < limit) return true
    const closed = queue.leastWorth()
    if (!closed) return false
    // Not only when it has closed: newcomers that arrive together must not all close the same one.
    remove(closed)
    closed.socket.destroy()
    rules.onLimit('closed_for_another')
    return true
  }
  const refuse = (socket: Socket, outcome: LimitOutcome) => {
    socket.destroy()
    rules.onLimit(outcome)
  }

  server.on('connection', (socket: Socket) => {
    const isProxy = rules.isProxy(socket.remoteAddress)
    if (rules.proxiesOnly && !isProxy) return refuse(socket, 'not_a_proxy')
    const address = isProxy ? undefined : limitedAddress(socket.remoteAddress)
    const own = address === undefined ? undefined : (byAddress.get(address) ?? createConnectionQueue())
    if ((own && !makeRoom(own, rules.perAddress)) || !makeRoom(all, rules.total))
      return refuse(socket, 'refused')
    if (own && address !== undefined) byAddress.set(address, own)
    const connection: Connection = {
      socket,
      address,
      isAuthenticated: false,
      requests: 0,
      standing: 'silent',
      authenticate() {
        if (connection.isAuthenticated) return
        connection.isAuthenticated = true
        move(connection)
      },
    }
    move(connection)
    const name = nameOf(socket)
    open.set(name, connection)
    socket.once('close', () => {
      remove(connection)
      if (open.get(name) === connection) open.delete(name)
    })
  })

  server.prependListener('request', ({ socket }, response) => {
    // Under TLS this is another socket object than the one that connected, with the same addresses.
    const connection = connections.get(socket) ?? open.get(nameOf(socket))
    if (!connection) return
    connections.set(socket, connection)
    connection.requests += 1
    move(connection)
    response.once('close', () => {
      connection.requests -= 1
      move(connection)
    })
  })
}

function standingOf({ isAuthenticated, requests }: Connection): Standing {
  if (isAuthenticated) return requests > 0 ? 'busy' : 'idle'
  return requests > 0 ? 'asking' : 'silent'
}

function nameOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}

const NETWORK_PARTS = 4

/** IPv6 by /64: whoever has one such address has them all. */
function limitedAddress(address = ''): string {
  if (!ipaddr.isValid(address)) return address
  const parsed = ipaddr.process(address)
  return parsed instanceof ipaddr.IPv6 ? parsed.parts.slice(0, NETWORK_PARTS).join(':') : parsed.toString()
}
