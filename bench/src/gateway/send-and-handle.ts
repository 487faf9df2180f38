import type { GatewayCalls } from './gateway-calls.ts'
import { inLanes, SENDERS } from './lanes.ts'

const HANDLERS = 4

/** Programs that a measurement needs. */
export const CALLERS = SENDERS + HANDLERS

/** Sends packages and handles them, with concurrent programs; returns packages per second. */
export async function sendAndHandle(
  programs: readonly GatewayCalls[],
  packages: number,
  content: object,
): Promise<number> {
  const senders = programs.slice(0, SENDERS)
  const handlers = programs.slice(SENDERS, CALLERS)
  const over = new AbortController()
  const start = performance.now()
  let [handled, end] = [0, Number.NaN]
  const handle = async (program: GatewayCalls) => {
    while (handled < packages) {
      const leases = await program.lease(over.signal)
      await Promise.all(leases.map((lease) => program.done(lease)))
      handled += leases.length
    }
    end = Number.isNaN(end) ? performance.now() : end
    // The other handlers wait for packages that will not come.
    over.abort()
  }
  const handling = Promise.all(
    handlers.map((program) =>
      handle(program).catch((error: unknown) => {
        if (!over.signal.aborted) throw error
      }),
    ),
  )
  await Promise.all([inLanes(packages, (lane) => (senders[lane] as GatewayCalls).send(content)), handling])
  return (packages * 1_000) / (end - start)
}
