import type { MemberColumn } from '../area.ts'
import type { PostgresServer } from '../exchange/postgres-server.ts'
import type { Tokens } from '../exchange/parties.ts'
import type { Address } from '../load/connection.ts'
import type { StockSource } from '../load/load-main.ts'
import type { LoadProcess } from '../load/load.ts'
import type { Outcome } from '../load/loops.ts'
import { cpuMeter } from '../processes/cpu.ts'

const ACCEPTED = 202

export interface Runner {
  readonly load: LoadProcess
  readonly postgres: PostgresServer
}

/** A server that accepts packages, and their source. */
export interface PackageServer {
  readonly address: Address
  readonly tokens: Tokens
  readonly source: StockSource
  readonly pid: number
}

export interface RunOptions {
  readonly clients: number
  readonly rampMs: number
  readonly measureMs: number
  /** For an open loop. */
  readonly perSecond?: number
  /** Packages to create beforehand. */
  readonly packages: number
}

/** The result of a run, with the CPU time per package of the server, PostgreSQL and the load generator. */
export interface Measured extends Outcome {
  readonly serverMicroseconds: number
  readonly postgresMicroseconds: number
  readonly loadMicroseconds: number
}

export const MEASURED: readonly MemberColumn<Measured>[] = [
  { member: 'perSecond', id: 'per_second', head: 'per second' },
  { member: 'p50Ms', id: 'p50_ms', head: 'p50 ms' },
  { member: 'p99Ms', id: 'p99_ms', head: 'p99 ms' },
  { member: 'serverMicroseconds', id: 'server_cpu_us', head: 'server µs' },
  { member: 'postgresMicroseconds', id: 'postgres_cpu_us', head: 'PostgreSQL µs' },
  { member: 'loadMicroseconds', id: 'load_cpu_us', head: 'load µs' },
]

export async function runLoad(
  { load, postgres }: Runner,
  { address, tokens, source, pid }: PackageServer,
  { packages, clients, ...span }: RunOptions,
): Promise<Measured> {
  const target = { ...address, tokens: await tokens.fresh() }
  if (!source.isRepeated) await load.call('fill', source.stock, packages, target)
  await load.call('connect', address, clients)
  const used = cpuMeter([[pid], [postgres.pid()], [load.pid]])
  const outcome = await load.call('run', { ...span, target, source, status: ACCEPTED })
  const [server = 0, database = 0, own = 0] = used().map((seconds) => (seconds * 1e6) / outcome.requests)
  return {
    ...outcome,
    serverMicroseconds: server,
    postgresMicroseconds: database,
    loadMicroseconds: own,
  }
}
