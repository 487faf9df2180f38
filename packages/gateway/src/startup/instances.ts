import { randomUUID } from 'node:crypto'
import type { Database, Queries } from '@agent-exchange/database'
import { fingerprint, knownKeys, type MasterKeys } from '@agent-exchange/server/master-key'
import type { PeriodicTask } from '@agent-exchange/server/periodic'
import { machineAddresses, type InstanceListeners } from '../push/push-address.ts'

/** Owner of the table gateway_instance. Times are those of the database. */

const REPORT_SECONDS = 10
/** An instance that has not reported for this time has ended. */
const ALIVE_SECONDS = 35
const MAXIMUM_LISTED = 1_000

export interface Instance {
  readonly instanceId: string
  readonly masterKeyIds: readonly string[]
}

/** Reports that this process runs, and which master keys it has. Disposing of it removes the report. */
export function reportInstance(
  db: Database,
  keys: () => MasterKeys,
  ports: readonly number[] = [],
): AsyncDisposable & { task: PeriodicTask } {
  const instanceId = `instance_${randomUUID()}`
  return {
    task: {
      name: 'report of this instance',
      everySeconds: REPORT_SECONDS,
      atStart: true,
      async run() {
        await db`
          insert into gateway_instance (instance_id, master_key_ids, addresses, ports, seen_at)
          values (${instanceId}, ${knownKeys(keys()).map(fingerprint)}, ${machineAddresses()}, ${ports.map(String)}, now())
          on conflict (instance_id) do update set master_key_ids = excluded.master_key_ids,
            addresses = excluded.addresses, ports = excluded.ports, seen_at = now()`
        await db`
          delete from gateway_instance where seen_at < now() - make_interval(secs => ${ALIVE_SECONDS})`
      },
    },
    async [Symbol.asyncDispose]() {
      await db`delete from gateway_instance where instance_id = ${instanceId}`.catch(() => undefined)
    },
  }
}

export async function listInstances(db: Queries): Promise<readonly Instance[]> {
  const rows = await db<{ instance_id: string; master_key_ids: readonly string[] }[]>`
    select instance_id, master_key_ids from gateway_instance
    where seen_at >= now() - make_interval(secs => ${ALIVE_SECONDS})
    order by instance_id limit ${MAXIMUM_LISTED}`
  return rows.map((row) => ({ instanceId: row.instance_id, masterKeyIds: row.master_key_ids }))
}

/** Where the instances listen, this one included. */
export async function listListeners(db: Queries): Promise<readonly InstanceListeners[]> {
  const rows = await db<{ addresses: readonly string[]; ports: readonly string[] }[]>`
    select addresses, ports from gateway_instance
    where seen_at >= now() - make_interval(secs => ${ALIVE_SECONDS}) limit ${MAXIMUM_LISTED}`
  return rows.map(({ addresses, ports }) => ({ addresses, ports: ports.map(Number) }))
}
