import { connect, isIPv6 } from 'node:net'
import type { DataAddressServer, DataAddressServerOptions } from '@agent-exchange/edc'
import { CommandFailure } from '../failure.ts'
import { readPem } from '../pem-file.ts'
import type { DataAddressSettings } from './connector-settings.ts'

const CONNECT_MS = 2_000
/** An address of every interface can be listened on, not connected to. */
const ON_THIS_MACHINE: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '::1' }

/** The address as the data plane is given it. */
export function dataAddressUrl({ host, port, url, cert_file: cert }: DataAddressSettings): string {
  return url ?? `${cert === undefined ? 'http' : 'https'}://${isIPv6(host) ? `[${host}]` : host}:${port}`
}

/**
 * Starts the server; undefined where the port is in use, most likely by a data address that runs already. What is
 * wrong with the address or the certificate is a sentence.
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
    // The reason of the library may quote the key.
    throw new CommandFailure(
      '--data-cert and --data-key are not a certificate and its private key in PEM form.',
    )
  }
}

/** Certificate and key are read now: a renewed one is used at the next start. */
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

/** Whether a program listens where the data address is to be. */
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
