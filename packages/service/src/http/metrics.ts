import { Counter, Gauge, Histogram, Registry, collectDefaultMetrics } from 'prom-client'
import { isAcceptance } from '../kernel/count-activity.ts'

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

/** Updated by events; scraping does not query the database. */
export function createMetrics() {
  const registry = new Registry()
  collectDefaultMetrics({ register: registry })
  const duration = new Histogram({
    name: 'aex_http_request_seconds',
    help: 'Time to answer requests of the agent API',
    labelNames: ['method', 'route', 'status'],
    buckets: SECONDS,
    registers: [registry],
  })
  const acceptance = new Histogram({
    name: 'aex_package_acceptance_seconds',
    help: 'Time from the request to the answer of an accepted package',
    buckets: SECONDS,
    registers: [registry],
  })
  const problems = new Counter({
    name: 'aex_problems_total',
    help: 'Problems answered by the agent API',
    labelNames: ['status'],
    registers: [registry],
  })
  const ready = new Gauge({
    name: 'aex_ready',
    help: '1 while the service takes requests',
    registers: [registry],
  })
  return {
    registry,
    setReady: (isReady: boolean) => ready.set(isReady ? 1 : 0),
    onAnswer({
      method,
      route,
      status,
      milliseconds,
    }: {
      method: string
      route: string
      status: number
      milliseconds: number
    }) {
      duration.observe({ method, route, status: String(status) }, milliseconds / 1_000)
      if (isAcceptance({ method, route, status })) acceptance.observe(milliseconds / 1_000)
      if (status >= 400) problems.inc({ status: String(status) })
    },
  }
}
