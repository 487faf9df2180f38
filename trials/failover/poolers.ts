import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { freePorts } from '@agent-exchange/testkit'
import { startProgram, type ChildProgram } from './child-program.ts'
import type { PatroniNode } from './patroni-cluster.ts'
import type { Programs } from './programs.ts'

export interface RunningProgram {
  readonly port: number
  readonly program: ChildProgram
}

/** One address that always leads to the primary. A node that is no longer the primary loses its connections. */
export async function startHaproxy(
  { haproxy }: Programs,
  nodes: readonly PatroniNode[],
  folder: string,
  cleanup: AsyncDisposableStack,
): Promise<RunningProgram> {
  const [port = 0] = await freePorts(1)
  const file = join(folder, 'haproxy.cfg')
  const servers = nodes.map(
    (node) => `  server ${node.name} 127.0.0.1:${node.port} check port ${node.restPort}`,
  )
  const lines = [
    'global',
    '  maxconn 1000',
    'defaults',
    '  mode tcp',
    '  timeout connect 2s',
    '  timeout client 1h',
    '  timeout server 1h',
    '  timeout check 2s',
    'listen primary',
    `  bind 127.0.0.1:${port}`,
    '  option httpchk GET /primary',
    '  http-check expect status 200',
    '  default-server inter 1s fall 3 rise 1 on-marked-down shutdown-sessions',
    ...servers,
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  const args = ['-db', '-f', file]
  const logFile = join(folder, 'haproxy.log')
  return { port, program: cleanup.use(startProgram({ name: 'haproxy', program: haproxy, args, logFile })) }
}

/** Transaction mode, in front of HAProxy. */
export async function startPgbouncer(
  { pgbouncer }: Programs,
  { serverPort, database, user }: { serverPort: number; database: string; user: string },
  folder: string,
  cleanup: AsyncDisposableStack,
): Promise<RunningProgram> {
  const [port = 0] = await freePorts(1)
  const file = join(folder, 'pgbouncer.ini')
  const lines = [
    '[databases]',
    `${database} = host=127.0.0.1 port=${serverPort} dbname=${database} user=${user}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    'auth_type = any',
    'pool_mode = transaction',
    'default_pool_size = 30',
    'max_client_conn = 200',
    // Shorter than the defaults, so that a client learns early that the primary is gone.
    'server_connect_timeout = 4',
    'server_login_retry = 1',
    'query_wait_timeout = 8',
  ]
  writeFileSync(file, `${lines.join('\n')}\n`)
  const logFile = join(folder, 'pgbouncer.log')
  const program = startProgram({ name: 'pgbouncer', program: pgbouncer, args: [file], logFile })
  return { port, program: cleanup.use(program) }
}
