import type { LookupFunction } from 'node:net'
import { Agent, buildConnector, type Dispatcher } from 'undici'
import { isThisMachine } from '../connector-addresses.ts'
import { LIMITS } from '../connector-limits.ts'

export interface DispatcherOptions {
  readonly ca?: string | undefined
  /** Refuses connections to this machine, whatever the host name. */
  readonly elsewhere?: boolean
  readonly lookup?: LookupFunction
}

/** Checks the address of the connection itself, since DNS answers may change (DNS rebinding). */
export function dispatcherTo({ ca, elsewhere = false, lookup }: DispatcherOptions): Dispatcher {
  const connect = buildConnector({
    timeout: LIMITS.connectMs,
    ...(ca !== undefined && { ca }),
    ...(lookup && { lookup }),
  })
  return new Agent({
    connect: elsewhere
      ? (options, callback) =>
          connect(options, (...[error, socket]) => {
            if (error) return callback(error, null)
            if (!isThisMachine(socket.remoteAddress ?? '127.0.0.1')) return callback(null, socket)
            socket.destroy()
            return callback(new Error('The connection would end on this machine.'), null)
          })
      : connect,
    headersTimeout: LIMITS.requestMs,
    bodyTimeout: LIMITS.requestMs,
    // Idle connections must not keep a finished program alive.
    keepAliveTimeout: 1_000,
  })
}
