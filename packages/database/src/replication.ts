import type { Queries } from './queries.ts'

/** `none`: no standby is connected. A commit waits for a standby only if replication is `synchronous`. */
export const REPLICATIONS = ['none', 'asynchronous', 'synchronous'] as const
export type Replication = (typeof REPLICATIONS)[number]

/** Values with which a commit waits for a standby at all; `local` and `off` do not. */
const WAITING_COMMITS = new Set(['on', 'remote_write', 'remote_apply'])

interface ReplicationSettings {
  readonly standbys: number
  readonly synchronous_standby_names: string
  readonly synchronous_commit: string
}

/** What the server does at the commit of our transactions. */
export async function readReplication(db: Queries): Promise<Replication> {
  const [row] = await db<ReplicationSettings[]>`
    select (select count(*) from pg_stat_replication)::integer as standbys,
      current_setting('synchronous_standby_names') as synchronous_standby_names,
      current_setting('synchronous_commit') as synchronous_commit`
  return row ? replicationOf(row) : 'none'
}

export function replicationOf(settings: ReplicationSettings): Replication {
  const { standbys, synchronous_standby_names: names, synchronous_commit: commit } = settings
  if (names !== '' && WAITING_COMMITS.has(commit)) return 'synchronous'
  return standbys > 0 ? 'asynchronous' : 'none'
}

/**
 * Whether a failover may lose committed transactions. Without standbys there is no failover, unless the address of the
 * database names several hosts: then the standbys are gone.
 */
export function mayFailoverLose(replication: Replication, namesSeveralHosts: boolean): boolean {
  return replication === 'asynchronous' || (replication === 'none' && namesSeveralHosts)
}
