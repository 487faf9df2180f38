import { connect, isIPv6 } from 'node:net'
import type { DataAddressServer, DataAddressServerOptions } from '@agent-exchange/edc'
import { CommandFailure } from '../failure.ts'
import { readPem } from '../pem-file.ts'
import type { DataAddressSettings } from './connector-settings.ts'

const CONNECT_MS = 2_000
/** Wildcard addresses: valid to listen on, not to connect to. */
const ON_THIS_MACHINE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** The address for the data plane. */
export function dataAddressUrl({ host, port, url, cert_file: cert }: DataAddressSettings): string {
  return url ?? `${cert === undefined ? 'http' : 'https'}://${isIPv6(host) ? `[${host}]` : host}:${port}`
}

/**
 * Starts the server; undefined if the port is in use, most likely by a running data address. A wrong address or
 * certificate is a CommandFailure.
 */
export async function startDataAddress(
  settings: DataAddressSettings,
  folder: string,
): Promise<DataAddressServer | undefined> {
  const { ConnectorError, startDataAddressServer } = await import('@agent-exchange/edc')
  try {
    return await startDataAddressServer(serverOptionsOf(settings, folder))
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (code === 'EADDRINUSE') return undefined
    if (error instanceof ConnectorError) throw new CommandFailure(error.message)
    if (['EACCES', 'EADDRNOTAVAIL', 'ENOTFOUND'].includes(code))
      throw new CommandFailure(
        `Port ${settings.port} of ${settings.host} cannot be used (${code}). Choose another with --data-port and --data-host.`,
      )
    if (settings.cert_file === undefined || error instanceof CommandFailure) throw error
    // The library's message may quote the key.
    throw new CommandFailure(
      '--data-cert and --data-key are not a certificate and its private key in PEM form.',
    )
  }
}

/** Reads certificate and key at each start, so that renewed ones are used. */
function serverOptionsOf(settings: DataAddressSettings, folder: string): DataAddressServerOptions {
  const { host, port, allow, cert_file: cert, key_file: key } = settings
  return {
    host,
    port,
    folder,
    publicUrl: dataAddressUrl(settings),
    ...(allow && { allow }),
    ...(cert !== undefined && key !== undefined && { tls: { cert: readPem(cert), key: readPem(key) } }),
  }
}

/** Whether a program listens at the data address. */
export async function isServing({ host, port }: DataAddressSettings): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const socket = connect({ host: ON_THIS_MACHINE[host] ?? host, port, timeout: CONNECT_MS })
  socket.once('connect', () => resolve(true))
  socket.once('error', () => resolve(false))
  socket.once('timeout', () => resolve(false))
  const answers = await promise
  socket.destroy()
  return answers
}
