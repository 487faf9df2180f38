import { setTimeout as sleep } from 'node:timers/promises'
import type { Connection, Outgoing } from './connection.ts'
import { outcomeOf, type Outcome } from './outcome.ts'

/** The next request, or nothing when all have been sent. */
export type Next = () => Outgoing | undefined

export interface Span {
  /** Runs before anything counts. */
  readonly rampMs: number
  readonly measureMs: number
  /** Every answer has this status; anything else ends the run. */
  readonly status: number
}

/** Closed loop: each connection sends its next request when it has its answer. */
export async function closedLoop(
  connections: readonly Connection[],
  next: Next,
  { rampMs, measureMs, status }: Span,
): Promise<Outcome> {
  const latencies: number[] = []
  let requests = 0
  const from = performance.now() + rampMs
  let until = from + measureMs
  const lane = async (connection: Connection): Promise<void> => {
    for (;;) {
      const begun = performance.now()
      if (begun >= until) return
      const outgoing = next()
      if (!outgoing) {
        until = Math.min(until, begun)
        return
      }
      requests++
      await expectStatus(connection, outgoing, status)
      const ended = performance.now()
      if (ended >= from && ended < until) latencies.push(ended - begun)
    }
  }
  await Promise.all(connections.map(lane))
  return outcomeOf(latencies, until - from, requests)
}

/**
 * Open loop: requests come at a steady rate, whether or not the earlier ones were answered. Time counts from when a
 * request was due, so waiting for a free connection is part of it.
 */
export async function openLoop(
  connections: readonly Connection[],
  next: Next,
  { rampMs, measureMs, status, perSecond }: Span & { readonly perSecond: number },
): Promise<Outcome> {
  const free = [...connections]
  const due: { at: number; outgoing: Outgoing }[] = []
  const underWay = new Set<Promise<void>>()
  const latencies: number[] = []
  const start = performance.now()
  let requests = 0

  const run = async (connection: Connection, { at, outgoing }: { at: number; outgoing: Outgoing }) => {
    await expectStatus(connection, outgoing, status)
    if (at - start >= rampMs) latencies.push(performance.now() - at)
    const waiting = due.shift()
    if (waiting) await run(connection, waiting)
    else free.push(connection)
  }
  for (let now = start; now - start < rampMs + measureMs; now = performance.now()) {
    for (; requests < ((now - start) / 1_000) * perSecond; requests++) {
      const outgoing = next()
      if (!outgoing) throw new Error('too few requests were prepared')
      const connection = free.pop()
      if (!connection) due.push({ at: now, outgoing })
      else {
        const done = run(connection, { at: now, outgoing }).finally(() => underWay.delete(done))
        underWay.add(done)
      }
    }
    await sleep(1)
  }
  await Promise.all(underWay)
  return outcomeOf(latencies, measureMs, requests)
}

async function expectStatus(connection: Connection, outgoing: Outgoing, status: number): Promise<void> {
  const got = await connection.send(outgoing)
  if (got !== status) {
    const [line] = outgoing.head.split('\r\n', 1)
    throw new Error(`${line} was answered ${got} instead of ${status}: ${connection.lastAnswer()}`)
  }
}
