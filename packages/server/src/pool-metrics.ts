import { Gauge, type Registry } from 'prom-client'
import type { Database } from '@agent-exchange/database'

export type Sample = readonly [labels: Readonly<Record<string, string>>, value: number]

/** Makes gauges whose values are read at each scrape. */
export const sampledGauges =
  (registry: Registry) => (name: string, help: string, labelNames: string[], read: () => Iterable<Sample>) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers: [registry],
      collect() {
        for (const [labels, value] of read()) this.set(labels, value)
      },
    })

/** Connections of the pools of a process. A scrape asks the database nothing. */
export function createPoolMetrics(registry: Registry, db: Pick<Database, 'pools'>): void {
  const pools = () => Object.entries(db.pools())
  const gauge = sampledGauges(registry)
  gauge(
    'aex_database_connections',
    'Connections to the database by pool and state: in_use, idle',
    ['pool', 'state'],
    () =>
      pools().flatMap(([pool, { inUse, idle }]): Sample[] => [
        [{ pool, state: 'in_use' }, inUse],
        [{ pool, state: 'idle' }, idle],
      ]),
  )
  gauge('aex_database_waiting', 'Callers that wait for a connection to the database, by pool', ['pool'], () =>
    pools().map(([pool, { waiting }]): Sample => [{ pool }, waiting]),
  )
}
