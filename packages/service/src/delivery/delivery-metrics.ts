import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

const SECONDS = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 15]

/** Updated by events; scraping reads no table. */
export function createDeliveryMetrics(
  registry: Registry,
  read: { inFlight: () => number; lanes: () => number },
) {
  const attempts = new Counter({
    name: 'aex_delivery_attempts_total',
    help: 'Webhook delivery attempts by what followed: delivered, retry, failed, dead, endpoint_gone',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const duration = new Histogram({
    name: 'aex_delivery_attempt_seconds',
    help: 'Time from claiming a webhook delivery to its result',
    buckets: SECONDS,
    registers: [registry],
  })
  const lag = new Gauge({
    name: 'aex_delivery_oldest_due_seconds',
    help: 'How long the oldest delivery of the last claim had been due; 0 when nothing waits',
    registers: [registry],
  })
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      registers: [registry],
      collect() {
        this.set(value())
      },
    })
  gauge('aex_deliveries_in_flight', 'Webhook requests under way', read.inFlight)
  gauge('aex_delivery_lanes', 'Endpoints with something to send, now or later', read.lanes)
  return {
    onAttempt(outcome: string, milliseconds: number): void {
      attempts.inc({ outcome })
      duration.observe(milliseconds / 1_000)
    },
    onClaim: (oldestDueSeconds: number) => lag.set(Math.max(0, oldestDueSeconds)),
  }
}
