import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { createServer as createTlsServer } from 'node:https'
import { BlockList, isIP, type AddressInfo } from 'node:net'
import { isLoopback } from './connector-addresses.ts'
import { ConnectorError } from './connector-error.ts'
import { hostOf, SECRET_HEADER } from './data-address-host.ts'
import { folderStore, memoryStore, type DataAddressStore } from './data-address-store.ts'
import type { DataAddressHost } from './data-address.ts'
import { sameSecret } from './same-secret.ts'

const CONNECTIONS = 64
const HEADERS_MS = 5_000
const REQUEST_MS = 10_000
const HEADER_BYTES = 8_192

export interface DataAddressServerOptions {
  readonly host?: string
  /** Fixed in production, since connectors store the address. 0 takes a free port. */
  readonly port?: number
  /** Folder for the bytes. Defaults to memory, which a restart loses. */
  readonly folder?: string
  /** Address for the data plane, if it differs from host and port. */
  readonly publicUrl?: string
  /** Addresses or subnets (`10.0.0.0/8`) that are answered. Defaults to every client with the secret. */
  readonly allow?: readonly string[]
  /** Required beyond loopback. */
  readonly tls?: { readonly key: string; readonly cert: string }
}

export interface DataAddressServer extends DataAddressHost, AsyncDisposable {
  readonly url: string
  close(): Promise<void>
}

/**
 * Serves published bytes to the sender's own data plane only.
 *
 * @example
 * await using dataAddress = await startDataAddressServer({ folder: './outgoing', port: 8085 })
 * const connector = new EdcV3Connector({ ...options, dataAddress })
 */
export async function startDataAddressServer(
  options: DataAddressServerOptions = {},
): Promise<DataAddressServer> {
  const { host = '127.0.0.1', port = 0, folder, tls } = options
  if (!tls && !isLoopback(host))
    throw new ConnectorError('invalid_input', { what: 'A data address beyond loopback needs tls.' })
  const store = folder === undefined ? memoryStore() : await folderStore(folder)
  const secret = await store.secret()
  const allowed = allowList(options.allow)
  const limits = { maxHeaderSize: HEADER_BYTES, headersTimeout: HEADERS_MS, requestTimeout: REQUEST_MS }
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse) =>
    void answer(incoming, outgoing, { store, secret, allowed }).catch(() => fail(outgoing))
  const server = tls ? createTlsServer({ ...limits, ...tls }, handle) : createServer(limits, handle)
  server.maxConnections = CONNECTIONS
  await listen(server, port, host)
  const shown = host.includes(':') ? `[${host}]` : host
  const own = `${tls ? 'https' : 'http'}://${shown}:${(server.address() as AddressInfo).port}`
  const url = (options.publicUrl ?? own).replace(/\/+$/u, '')
  const close = () => stop(server)
  return {
    url,
    ...hostOf(store, secret, url),
    close,
    [Symbol.asyncDispose]: close,
  }
}

interface Guard {
  readonly store: DataAddressStore
  readonly secret: string
  readonly allowed: (address: string) => boolean
}

async function answer(incoming: IncomingMessage, outgoing: ServerResponse, guard: Guard): Promise<void> {
  const { method, headers, socket } = incoming
  // Without the secret, the response does not reveal whether an asset exists.
  if (!guard.allowed(socket.remoteAddress ?? '') || !sameSecret(headers[SECRET_HEADER], guard.secret))
    return end(outgoing, 403)
  if (method !== 'GET' && method !== 'HEAD') return end(outgoing.setHeader('allow', 'GET, HEAD'), 405)
  const assetId = assetOf(incoming.url)
  const kept = assetId === undefined ? undefined : await guard.store.get(assetId)
  if (kept === 'withdrawn') return end(outgoing, 410)
  if (kept === undefined) return end(outgoing, 404)
  outgoing.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': kept.length,
    'cache-control': 'no-store',
  })
  outgoing.end(method === 'HEAD' ? undefined : kept)
}

function assetOf(url = ''): string | undefined {
  const name = /^\/assets\/([\w.%-]+)$/u.exec(url.split('?')[0] ?? '')?.[1]
  try {
    return name === undefined ? undefined : decodeURIComponent(name)
  } catch {
    return undefined
  }
}

function allowList(entries: readonly string[] | undefined): (address: string) => boolean {
  if (!entries) return () => true
  const list = new BlockList()
  for (const entry of entries) {
    const [address = '', prefix] = entry.split('/')
    const family = isIP(address) === 6 ? 'ipv6' : 'ipv4'
    if (isIP(address) === 0)
      throw new ConnectorError('invalid_input', { what: `${entry} is not an address or subnet.` })
    if (prefix === undefined) list.addAddress(address, family)
    else list.addSubnet(address, Number(prefix), family)
  }
  return (remote) => {
    const address = remote.replace(/^::ffff:(?=\d+\.)/u, '')
    return isIP(address) !== 0 && list.check(address, isIP(address) === 6 ? 'ipv6' : 'ipv4')
  }
}

function end(outgoing: ServerResponse, status: number): void {
  outgoing.writeHead(status, { 'content-length': 0, 'cache-control': 'no-store' })
  outgoing.end()
}

function fail(outgoing: ServerResponse): void {
  if (outgoing.headersSent) outgoing.destroy()
  else end(outgoing, 500)
}

function listen(server: Server, port: number, host: string): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  server.once('error', reject)
  server.listen(port, host, resolve)
  return promise
}

function stop(server: Server): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  server.close(() => resolve())
  server.closeAllConnections()
  return promise
}
