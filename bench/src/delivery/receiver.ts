import { setTimeout as sleep } from 'node:timers/promises'
import type { TestBed } from '../exchange/test-bed.ts'
import { startHelper, type Helper } from '../processes/calls.ts'
import type { Arrival, ReceiverCalls } from './receiver-main.ts'

/** A process that receives webhooks at many loopback addresses, over TLS. */
export interface Receiver {
  readonly process: Helper<ReceiverCalls>
  /** The URL of an endpoint at each of the addresses, without a path. */
  readonly origins: readonly string[]
  /** Makes a service trust the receiver and deliver to loopback addresses. */
  readonly settings: Readonly<Record<string, string>>
  /** The file with its certificate authority. */
  readonly caFile: string
}

/** Each endpoint has its own address, like receivers of different companies. */
export async function startReceiver(
  bed: TestBed,
  cleanup: AsyncDisposableStack,
  endpoints: number,
): Promise<Receiver> {
  const addresses = Array.from({ length: endpoints }, (_, i) => `127.0.1.${i + 1}`)
  const process = cleanup.use(startHelper<ReceiverCalls>(new URL('receiver-main.ts', import.meta.url)))
  const port = await process.call('listen', addresses, await bed.authority.server(...addresses))
  const caFile = bed.file('receiver-ca.crt', bed.authority.certificate)
  return {
    process,
    origins: addresses.map((address) => `https://${address}:${port}`),
    settings: { AEX_WEBHOOK_CA: caFile, AEX_WEBHOOK_ALLOW_PRIVATE: 'true' },
    caFile,
  }
}

const RECORDING_MS = 300

/** Waits until this many deliveries have arrived, and then for the service to record the last results. */
export async function untilDelivered(
  { process }: Receiver,
  deliveries: number,
  limitMs: number,
  isHealthyOnly = false,
): Promise<readonly Arrival[]> {
  const arrivals = await process.call('arrivals', deliveries, limitMs, isHealthyOnly)
  await sleep(RECORDING_MS)
  return arrivals
}
