import { releaseBacklog } from '../delivery/backlog.ts'
import type { DeliveringExchange, Rig } from '../exchange/delivering-exchange.ts'
import { sharedNow } from '../processes/shared-clock.ts'
import { signalTree } from '../processes/tree.ts'
import { median } from '../statistics.ts'

/** The worker is killed when this share of the backlog has arrived. */
const SHARE_BEFORE = 0.25
const ARRIVAL_LIMIT_MS = 240_000

export interface Takeover {
  /** First arrivals after the kill. */
  readonly remaining: number
  readonly deliveries: number
  readonly restartSeconds: number
  /** From the kill to the median and to the last of the remaining arrivals. */
  readonly medianSeconds: number
  readonly lastSeconds: number
}

/** Kills the worker with SIGKILL in the middle of a backlog and starts another one, as a service manager does. */
export async function measureTakeover(
  rig: Rig,
  exchange: DeliveringExchange,
  options: { readonly packages: number; readonly fanOut: number },
): Promise<Takeover> {
  const { process: receiver } = rig.receiver
  const { deliveries } = await releaseBacklog(rig, exchange, options)
  await receiver.call('arrivals', Math.ceil(deliveries * SHARE_BEFORE), ARRIVAL_LIMIT_MS)
  const killed = sharedNow()
  signalTree(exchange.worker.pid, 'SIGKILL')
  exchange.worker = await exchange.startWorker('restarted-worker')
  const restarted = sharedNow()
  const arrivals = await receiver.call('arrivals', deliveries, ARRIVAL_LIMIT_MS)
  const after = arrivals.map(({ at }) => (at - killed) / 1_000).filter((seconds) => seconds > 0)
  return {
    remaining: after.length,
    deliveries,
    restartSeconds: (restarted - killed) / 1_000,
    medianSeconds: median(after),
    lastSeconds: Math.max(...after),
  }
}
