import { setTimeout as sleep } from 'node:timers/promises'
import { percentiles } from '../statistics.ts'
import type { Connection, Outgoing } from './connection.ts'
import type { Schedule } from './schedule.ts'

/** The result of one run. */
export interface Outcome {
  readonly perSecond: number
  readonly p50Ms: number
  readonly p99Ms: number
  /** All requests, including those outside the measured time. */
  readonly requests: number
}

function outcomeOf(latencies: readonly number[], milliseconds: number, requests: number): Outcome {
  const [p50Ms = Number.NaN, p99Ms = Number.NaN] = percentiles(latencies, [0.5, 0.99])
  return { perSecond: (latencies.length * 1_000) / milliseconds, p50Ms, p99Ms, requests }
}

/** The clock of an open loop, in milliseconds. */
export interface Time {
  now(): number
  sleep(milliseconds: number): Promise<unknown>
}

/** Timers have a resolution of one millisecond. */
const REAL_TIME: Time = {
  now: () => performance.now(),
  sleep: (milliseconds) => sleep(Math.max(1, milliseconds)),
}

/** The next request, or nothing when all have been sent. */
export type Next = () => Outgoing | undefined

/** What a loop needs of a connection. */
export type Sender = Pick<Connection, 'send' | 'lastAnswer'>

export interface Span {
  /** Runs before anything counts. */
  readonly rampMs: number
  readonly measureMs: number
  /** The expected status; any other status ends the run. */
  readonly status: number | 'any'
}

/** Called for each request with the time from which its latency counts. */
export type OnSend = (outgoing: Outgoing, at: number) => void

/** Called for each measured request of an open loop: when it was due, and when its response had arrived. */
export type OnEnd = (due: number, ended: number) => void

export interface OpenLoopOptions {
  readonly onSend?: OnSend | undefined
  readonly onEnd?: OnEnd | undefined
  readonly time?: Time
}

/** Closed loop: each connection sends its next request after the response. */
export async function closedLoop(
  connections: readonly Sender[],
  next: Next,
  { rampMs, measureMs, status }: Span,
  onSend?: OnSend,
): Promise<Outcome> {
  const latencies: number[] = []
  let requests = 0
  const from = performance.now() + rampMs
  let until = from + measureMs
  const lane = async (connection: Sender): Promise<void> => {
    for (;;) {
      const begun = performance.now()
      if (begun >= until) return
      const outgoing = next()
      if (!outgoing) {
        until = Math.min(until, begun)
        return
      }
      requests++
      onSend?.(outgoing, begun)
      await expectStatus(connection, outgoing, status)
      const ended = performance.now()
      if (ended >= from && ended < until) latencies.push(ended - begun)
    }
  }
  await Promise.all(connections.map(lane))
  return outcomeOf(latencies, until - from, requests)
}

/**
 * Open loop: requests are due at the times of a schedule, independent of responses. Latency is measured from the due time,
 * including the wait for a connection, to avoid coordinated omission.
 */
export async function openLoop(
  connections: readonly Sender[],
  next: Next,
  { rampMs, measureMs, status, schedule }: Span & { readonly schedule: Schedule },
  { onSend, onEnd, time = REAL_TIME }: OpenLoopOptions = {},
): Promise<Outcome> {
  const free = [...connections]
  const queue: { readonly at: number; readonly outgoing: Outgoing }[] = []
  let taken = 0
  const busy = new Set<Promise<void>>()
  const latencies: number[] = []
  let failure: Error | undefined
  const start = time.now()

  /** Sends waiting requests until none is left. */
  const lane = async (connection: Sender): Promise<void> => {
    for (let request = queue[taken]; request && !failure; request = queue[taken]) {
      taken++
      await expectStatus(connection, request.outgoing, status)
      if (request.at - start < rampMs) continue
      const ended = time.now()
      latencies.push(ended - request.at)
      onEnd?.(request.at, ended)
    }
    free.push(connection)
  }
  for (const dueAfterMs of schedule) {
    if (dueAfterMs >= rampMs + measureMs || failure) break
    const at = start + dueAfterMs
    for (let early = at - time.now(); early > 0; early = at - time.now()) await time.sleep(early)
    const outgoing = next()
    if (!outgoing) throw new Error('too few requests were prepared')
    onSend?.(outgoing, at)
    queue.push({ at, outgoing })
    const connection = free.pop()
    if (!connection) continue
    const done = lane(connection)
      .catch((error: unknown) => void (failure ??= error as Error))
      .finally(() => busy.delete(done))
    busy.add(done)
  }
  await Promise.all(busy)
  if (failure) throw failure
  return outcomeOf(latencies, measureMs, queue.length)
}

async function expectStatus(connection: Sender, outgoing: Outgoing, status: Span['status']): Promise<void> {
  const got = await connection.send(outgoing)
  if (status !== 'any' && got !== status) {
    const [line] = outgoing.head.split('\r\n', 1)
    throw new Error(`${line} was answered ${got} instead of ${status}: ${connection.lastAnswer()}`)
  }
}
