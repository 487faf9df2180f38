import { join } from 'node:path'
import type { Programs } from './programs.ts'

export interface PatroniSettings {
  readonly name: string
  readonly port: number
  readonly restPort: number
  readonly programs: Programs
  readonly etcdHosts: readonly string[]
  readonly home: string
  readonly data: string
}

/** A failover begins when the lock of a lost primary expires. loop_wait + 2 * retry_timeout must not exceed ttl. */
const TIMING = { ttl: 12, loop_wait: 2, retry_timeout: 5 }
/** Every node listens on loopback only, so no node authenticates the others. */
const PG_HBA = [
  'local all all trust',
  'host all all 127.0.0.1/32 trust',
  'host replication all 127.0.0.1/32 trust',
]

const account = (username: string) => ({ username, password: username })

/** The configuration of one node, as docs/high-availability.md shows it. */
export function patroniConfig({ name, port, restPort, programs, etcdHosts, home, data }: PatroniSettings) {
  return {
    scope: 'agent-exchange',
    name,
    restapi: { listen: `127.0.0.1:${restPort}`, connect_address: `127.0.0.1:${restPort}` },
    etcd3: { hosts: etcdHosts },
    bootstrap: {
      dcs: {
        ...TIMING,
        // A commit waits for a standby, and only that standby may become the primary.
        synchronous_mode: true,
        postgresql: {
          use_pg_rewind: true,
          use_slots: true,
          parameters: { max_connections: 200, shared_buffers: '64MB', wal_keep_size: '512MB' },
        },
      },
      initdb: [{ encoding: 'UTF8' }, 'data-checksums'],
      pg_hba: PG_HBA,
    },
    postgresql: {
      listen: `127.0.0.1:${port}`,
      connect_address: `127.0.0.1:${port}`,
      bin_dir: programs.postgresBin,
      data_dir: data,
      pgpass: join(home, 'pgpass'),
      pg_hba: PG_HBA,
      authentication: {
        superuser: account('postgres'),
        replication: account('replicator'),
        rewind: account('rewinder'),
      },
      parameters: { unix_socket_directories: home },
      remove_data_directory_on_rewind_failure: true,
      remove_data_directory_on_diverged_timelines: true,
    },
    watchdog: { mode: 'off' },
  }
}
