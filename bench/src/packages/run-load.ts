import type { PostgresServer } from '../exchange/postgres-server.ts'
import type { LoadProcess } from '../load/load.ts'
import type { Outcome } from '../load/outcome.ts'
import { cpuMeter } from '../processes/cpu.ts'
import type { Contender, ContenderName } from './contenders.ts'

const ACCEPTED = 202
export interface Runner {
  readonly load: LoadProcess
  readonly postgres: PostgresServer
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

export type Results = Readonly<Record<ContenderName, readonly Measured[]>>

export interface Latencies {
  /** One request after the other. */
  readonly single: readonly Measured[]
  /** Half of the maximum rate. */
  readonly half: readonly Measured[]
}

export async function runLoad(
  { load, postgres }: Runner,
  { address, tokens, source, pid }: Pick<Contender, 'address' | 'tokens' | 'source' | 'pid'>,
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
