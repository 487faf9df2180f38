import { lookup as systemLookup } from 'node:dns'
import { isIP, type LookupFunction } from 'node:net'
import { isGlobalUnicast } from '@agent-exchange/protocol/global-unicast'
import { Agent, buildConnector, type Dispatcher } from 'undici'
import { ConnectorError } from '../connector-error.ts'
import { LIMITS } from '../connector-limits.ts'

export interface DispatcherOptions {
  readonly ca?: string | undefined
  /** Connects to public addresses only: for URLs that another party chose. */
  readonly publicOnly?: boolean
  readonly lookup?: LookupFunction
}

export function dispatcherTo({ ca, publicOnly = false, lookup }: DispatcherOptions): Dispatcher {
  const connect = (resolve: LookupFunction | undefined) =>
    buildConnector({
      timeout: LIMITS.connectMs,
      ...(ca !== undefined && { ca }),
      ...(resolve && { lookup: resolve }),
    })
  return new Agent({
    connect: publicOnly ? guarded(connect(publicAddresses(lookup ?? systemLookup))) : connect(lookup),
    headersTimeout: LIMITS.requestMs,
    bodyTimeout: LIMITS.requestMs,
    // Idle connections must not keep a finished program alive.
    keepAliveTimeout: 1_000,
  })
}

/** An IP address in a URL is not resolved, so it is checked here; the address of the connection is checked again. */
function guarded(connect: buildConnector.connector): buildConnector.connector {
  return (options, callback) => {
    if (isIP(options.hostname) !== 0 && !isGlobalUnicast(options.hostname)) {
      callback(blocked(), null)
      return
    }
    connect(options, (...[error, socket]) => {
      if (error) return callback(error, null)
      if (isGlobalUnicast(socket.remoteAddress ?? '')) return callback(null, socket)
      socket.destroy()
      return callback(blocked(), null)
    })
  }
}

/** The socket is opened to an address that was checked: a second answer of DNS is not asked for (DNS rebinding). */
function publicAddresses(lookup: LookupFunction): LookupFunction {
  return (hostname, options, callback) =>
    lookup(hostname, { ...options, all: true }, (error, found) => {
      if (error) return callback(error, '')
      const allowed = Array.isArray(found) ? found.filter(({ address }) => isGlobalUnicast(address)) : []
      const [first] = allowed
      if (!first) return callback(blocked(), '')
      return options.all ? callback(null, allowed) : callback(null, first.address, first.family)
    })
}

function blocked(): ConnectorError {
  return new ConnectorError('bad_answer', { what: NOT_PUBLIC })
}

export const NOT_PUBLIC =
  'The data plane of the sender must have a public https address. Only if your data space is a private network, allow ' +
  'others: allowPrivateDataPlanes, or --allow-private-data-planes of "aex agent connector set".'
