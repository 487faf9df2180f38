import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { stateAfter } from '../queue/attempt-record.ts'
import type { FinishedAttempt } from '../queue/finished-attempt.ts'
import { ERROR_CLASSES } from './classify-attempt.ts'

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]
const OUTCOMES = ['delivered', 'retry', 'failed', 'dead', 'endpoint_gone']
const RESULTS = ['delivered', 'failed', 'dead']
const STATUS_CLASSES = ['status_3xx', 'status_4xx', 'status_5xx', 'status_other']
/** Failures before a request is sent: the notification is gone, or the URL cannot be signed. */
const UNSENT = 'not_sent'

/** Updated by events; scraping reads no table. */
export function createDeliveryMetrics(
  registry: Registry,
  read: { inFlight: () => number; lanes: () => number },
) {
  const registers = [registry]
  const counter = (name: string, help: string, label: string, values: readonly string[]) => {
    const made = new Counter({ name, help, labelNames: [label], registers })
    // A counter that begins at 0 shows its first event as an increase.
    for (const value of values) made.inc({ [label]: value }, 0)
    return (value: string) => made.inc({ [label]: value })
  }
  const countAttempt = counter(
    'aex_delivery_attempts_total',
    'Webhook delivery attempts by what followed: delivered, retry, failed, dead, endpoint_gone',
    'outcome',
    OUTCOMES,
  )
  const countFailure = counter(
    'aex_delivery_failures_total',
    'Webhook delivery attempts that failed, by cause',
    'cause',
    [...ERROR_CLASSES, ...STATUS_CLASSES, UNSENT],
  )
  const countResult = counter(
    'aex_deliveries_total',
    'Webhook deliveries that ended, by the recorded result: delivered, failed, dead',
    'result',
    RESULTS,
  )
  const duration = new Histogram({
    name: 'aex_delivery_attempt_seconds',
    help: 'Time from claiming a webhook delivery to its result',
    buckets: SECONDS,
    registers,
  })
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers,
      collect() {
        this.set(value())
      },
    })
  gauge('aex_deliveries_in_flight', 'Webhook requests under way', read.inFlight)
  gauge('aex_delivery_lanes', 'Endpoints with something to send, now or later', read.lanes)
  return {
    /** Without a duration if the worker that sent it died. */
    onAttempt({ verdict, details }: FinishedAttempt, milliseconds?: number): void {
      countAttempt(verdict.outcome)
      if (verdict.outcome !== 'delivered') countFailure(details.error_class ?? statusClass(details.status))
      if (milliseconds !== undefined) duration.observe(milliseconds / 1_000)
    },
    /** The result is in the database. */
    onRecorded({ verdict }: FinishedAttempt): void {
      const state = stateAfter(verdict)
      if (state !== 'pending') countResult(state)
    },
  }
}

function statusClass(status: number | undefined): string {
  if (status === undefined) return UNSENT
  const name = `status_${Math.floor(status / 100)}xx`
  return STATUS_CLASSES.includes(name) ? name : 'status_other'
}
