import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { limitedAddress } from '@agent-exchange/protocol/limited-address'
import { createConnectionQueue, type ConnectionQueue, type ConnectionPriority } from './connection-queue.ts'

export interface ConnectionRules {
  readonly total: number
  readonly perAddress: number
  /** Proxies carry the connections of many clients, so only the total limit applies to them. */
  readonly isProxy: (address: string | undefined) => boolean
  /** Refuses all peers but the proxies, because this listener does not use TLS itself. */
  readonly proxiesOnly: boolean
  readonly onLimit: (outcome: LimitOutcome) => void
}

/** An existing connection was evicted for a new one; the new one was refused; the peer is not a trusted proxy. */
export type LimitOutcome = 'closed_for_another' | 'refused' | 'not_a_proxy'

interface Connection {
  readonly socket: Socket
  /** Undefined for a proxy. */
  readonly address: string | undefined
  isAuthenticated: boolean
  requests: number
  priority: ConnectionPriority
  readonly authenticate: () => void
}

const connections = new WeakMap<Socket, Connection>()

/** Raises the priority of the connection: its caller is authenticated. */
export function markAuthenticated(socket: Socket): void {
  connections.get(socket)?.authenticate()
}

/**
 * O-13: at the limit, a new connection evicts the one with the lowest priority, so that silent sockets cannot lock out
 * others. A connection with an authenticated request in progress is never evicted.
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
    const priority = priorityOf(connection)
    for (const queue of queuesOf(connection)) {
      queue.remove(connection, connection.priority)
      queue.add(connection, priority)
    }
    connection.priority = priority
  }
  const remove = (connection: Connection) => {
    for (const queue of queuesOf(connection)) queue.remove(connection, connection.priority)
    if (connection.address !== undefined && byAddress.get(connection.address)?.size() === 0)
      byAddress.delete(connection.address)
  }
  /** Evicts a connection if the queue is full. False if none can be evicted. */
  const makeRoom = (queue: ConnectionQueue<Connection>, limit: number): boolean => {
    if (queue.size() < limit) return true
    const evicted = queue.evictionCandidate()
    if (!evicted) return false
    // Removed at once, so that simultaneous new connections do not all evict the same one.
    remove(evicted)
    evicted.socket.destroy()
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
      priority: 'silent',
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
    // Under TLS this socket object differs from that of the 'connection' event; its addresses are the same.
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

function priorityOf({ isAuthenticated, requests }: Connection): ConnectionPriority {
  if (isAuthenticated) return requests > 0 ? 'busy' : 'idle'
  return requests > 0 ? 'asking' : 'silent'
}

function nameOf({ remoteAddress, remotePort, localAddress }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localAddress}`
}

/** The address by which a peer is limited. A proxy has none: it carries the requests of many. */
export function limitedPeer({ remoteAddress }: Socket, { isProxy }: ConnectionRules): string | undefined {
  return isProxy(remoteAddress) ? undefined : limitedAddress(remoteAddress)
}
