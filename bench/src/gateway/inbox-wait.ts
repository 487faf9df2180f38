import type { MemberColumn } from '../area.ts'
import { percentiles } from '../statistics.ts'
import type { GatewayCalls } from './gateway-calls.ts'

export interface InboxWait {
  readonly p50Ms: number
  readonly p99Ms: number
}

export const INBOX_WAIT: readonly MemberColumn<InboxWait>[] = [
  { member: 'p50Ms', id: 'p50_ms', head: 'p50 ms' },
  { member: 'p99Ms', id: 'p99_ms', head: 'p99 ms' },
]

/** The wall clock, which is that of the gateway on the same machine, with fractions of a millisecond. */
const wallClock = () => performance.timeOrigin + performance.now()

/** One package after the other, from its handling by the receiver to the answer of a request that waits for it. */
export async function inboxWait(
  [sender, handler]: readonly [GatewayCalls, GatewayCalls],
  packages: number,
  content: object,
): Promise<InboxWait> {
  const waits: number[] = []
  const never = new AbortController().signal
  while (waits.length < packages) {
    const waiting = handler.lease(never)
    const sending = sender.send(content)
    const leases = await waiting
    const at = wallClock()
    await sending
    for (const lease of leases) {
      waits.push(at - Date.parse(lease.received_at))
      await handler.done(lease)
    }
  }
  const [p50Ms = Number.NaN, p99Ms = Number.NaN] = percentiles(waits, [0.5, 0.99])
  return { p50Ms, p99Ms }
}
