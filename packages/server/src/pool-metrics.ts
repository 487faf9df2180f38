import { Gauge, type Registry } from 'prom-client'
import type { Database } from '@agent-exchange/database'

/** Connections of the pools of a process. Values are read at each scrape, without a query. */
export function createPoolMetrics(registry: Registry, db: Pick<Database, 'pools'>): void {
  const registers = [registry]
  const pools = () => Object.entries(db.pools())
  new Gauge({
    name: 'aex_database_connections',
    help: 'Connections to the database by pool and state: in_use, idle',
    labelNames: ['pool', 'state'],
    registers,
    collect() {
      for (const [pool, { inUse, idle }] of pools()) {
        this.set({ pool, state: 'in_use' }, inUse)
        this.set({ pool, state: 'idle' }, idle)
      }
    },
  })
  new Gauge({
    name: 'aex_database_waiting',
    help: 'Callers that wait for a connection to the database, by pool',
    labelNames: ['pool'],
    registers,
    collect() {
      for (const [pool, { waiting }] of pools()) this.set({ pool }, waiting)
    },
  })
}
