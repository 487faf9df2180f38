import { ConnectorError } from './connector-error.ts'
import { folderStore, type DataAddressStore } from './data-address-store.ts'
import type { DataAddressHost } from './data-address.ts'

/** Header with the data plane's secret. EDC sends one configurable header with each request. */
export const SECRET_HEADER = 'x-data-address-key'
const LARGEST_ASSET = 32_000_000

/**
 * The folder of a data address whose server runs in another process: publishing and withdrawing change its files,
 * and the server follows.
 *
 * @example
 * const dataAddress = await openDataAddressFolder('./outgoing', 'https://agent.acme.example:8085')
 * const connector = new EdcV3Connector({ ...options, dataAddress })
 */
export async function openDataAddressFolder(folder: string, url: string): Promise<DataAddressHost> {
  const store = await folderStore(folder)
  return hostOf(store, await store.secret(), url.replace(/\/+$/u, ''))
}

/** `url` is the address for the data plane. */
export function hostOf(store: DataAddressStore, secret: string, url: string): DataAddressHost {
  return {
    put: async (assetId, bytes) => {
      if (bytes.length > LARGEST_ASSET)
        throw new ConnectorError('too_large', {
          assetId,
          what: `At most ${LARGEST_ASSET} bytes can be offered.`,
        })
      await store.put(assetId, bytes)
      return {
        url: `${url}/assets/${encodeURIComponent(assetId)}`,
        headerName: SECRET_HEADER,
        headerValue: secret,
      }
    },
    withdraw: (assetId) => store.withdraw(assetId),
  }
}
