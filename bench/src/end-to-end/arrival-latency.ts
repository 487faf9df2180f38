import type { Arrival } from '../delivery/receiver-main.ts'
import type { SentPackage } from '../load/load-main.ts'

export interface ArrivalLatencies {
  /** From the due time of a package to the arrival of each webhook, without the ramp-up. */
  readonly latencies: readonly number[]
  /** All deliveries, including the ramp-up. */
  readonly deliveries: number
  readonly firstSend: number
  readonly lastSend: number
  readonly lastArrival: number
}

/** Matches packages with their webhooks. Every package must have arrived at each endpoint. */
export function arrivalLatencies(
  sent: readonly SentPackage[],
  arrivals: readonly Arrival[],
  { fanOut, rampMs }: { readonly fanOut: number; readonly rampMs: number },
): ArrivalLatencies {
  const sentAt = new Map(sent.map(({ packageId, at }) => [packageId, at]))
  const times = sent.map(({ at }) => at).toSorted((left, right) => left - right)
  const [firstSend = Number.NaN, lastSend = Number.NaN] = [times[0], times.at(-1)]
  const latencies: number[] = []
  let [deliveries, lastArrival] = [0, Number.NaN]
  for (const { packageId, at } of arrivals) {
    const from = sentAt.get(packageId)
    if (from === undefined) continue
    deliveries++
    lastArrival = Math.max(at, Number.isNaN(lastArrival) ? at : lastArrival)
    if (from >= firstSend + rampMs) latencies.push(at - from)
  }
  if (deliveries !== sent.length * fanOut) {
    throw new Error(`${deliveries} of ${sent.length * fanOut} deliveries arrived`)
  }
  return { latencies, deliveries, firstSend, lastSend, lastArrival }
}
