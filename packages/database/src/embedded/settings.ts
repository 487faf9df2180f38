import { totalmem } from 'node:os'

export type ServerSettings = Readonly<Record<string, string>>

const MIB = 1_048_576
const SMALLEST_BUFFERS_MIB = 32
const LARGEST_BUFFERS_MIB = 512

/** Durable, private and quiet. The first three are the promise behind every 202. */
export function serverSettings(overrides: ServerSettings): Record<string, string> {
  const buffers = Math.round(totalmem() / MIB / 8)
  return {
    fsync: 'on',
    full_page_writes: 'on',
    synchronous_commit: 'on',
    listen_addresses: '',
    port: '5432',
    unix_socket_permissions: '0700',
    password_encryption: 'scram-sha-256',
    max_connections: '200',
    shared_buffers: `${Math.min(Math.max(buffers, SMALLEST_BUFFERS_MIB), LARGEST_BUFFERS_MIB)}MB`,
    // Fewer checkpoints: less of each page is written twice, and fewer moments in which all wait. A start that recovered
    // 1.6 GB of log took 6 s.
    max_wal_size: '2GB',
    min_wal_size: '128MB',
    checkpoint_timeout: '10min',
    // Online backups need it; nothing else reads the log.
    wal_level: 'replica',
    max_wal_senders: '0',
    jit: 'off',
    logging_collector: 'off',
    // Neither statements nor the values in a violated key belong in a log.
    log_min_error_statement: 'panic',
    log_error_verbosity: 'terse',
    ...overrides,
  }
}
