import type { DeliveringExchange, Rig } from '../exchange/delivering-exchange.ts'
import { CLIENTS } from '../exchange/market.ts'
import { pausable } from '../processes/pause.ts'
import { sharedNow } from '../processes/shared-clock.ts'

const ACCEPTED = 202
const SEND_LIMIT_MS = 60_000

export interface Backlog {
  readonly deliveries: number
  /** When the worker resumed, by the shared clock. */
  readonly from: number
}

/**
 * Pauses the worker while packages are accepted, and resumes it when their deliveries wait. This creates a backlog
 * through the API, which works with any revision of the service.
 */
export async function releaseBacklog(
  { load, receiver }: Rig,
  exchange: DeliveringExchange,
  { packages, fanOut }: { readonly packages: number; readonly fanOut: number },
): Promise<Backlog> {
  if (exchange.layout !== 'apart') throw new Error('pausing needs a separate worker process')
  const target = await exchange.target()
  const stock = exchange.stock(fanOut)
  await load.call('fill', stock, packages, target)
  await receiver.process.call('forget')
  await load.call('connect', target, CLIENTS)
  const worker = pausable(exchange.worker)
  worker.pause()
  try {
    const { requests } = await load.call('run', {
      target,
      source: { kind: 'stock', stock, most: packages },
      status: ACCEPTED,
      rampMs: 0,
      measureMs: SEND_LIMIT_MS,
    })
    if (requests < packages) throw new Error(`${requests} of ${packages} packages were sent in time`)
    return { deliveries: requests * fanOut, from: sharedNow() }
  } finally {
    worker.resume()
  }
}
