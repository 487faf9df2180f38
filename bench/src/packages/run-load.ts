import type { PostgresServer } from '../exchange/postgres-server.ts'
import type { LoadProcess } from '../load/load.ts'
import type { Outcome } from '../load/outcome.ts'
import { cpuSeconds } from '../processes/cpu.ts'
import type { Contender, ContenderName } from './contenders.ts'

const ACCEPTED = 202
/** So that a run which turns out faster than the warm-up does not run dry. */
const SPARE_SHARE = 1.5
/** As many as there may be clients, and as are under way at the end. */
const SPARE_PACKAGES = 128

/** Packages for a run of this length that may be about as fast as this. */
export function enoughFor(
  perSecond: number,
  { rampMs, measureMs }: Pick<RunOptions, 'rampMs' | 'measureMs'>,
): number {
  return Math.ceil(((rampMs + measureMs) / 1_000) * perSecond * SPARE_SHARE) + SPARE_PACKAGES
}

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
  /** How many packages are made for it beforehand. */
  readonly packages: number
}

/** What a run came to, with the CPU time that each package took: of the server, of PostgreSQL and of the load. */
export interface Measured extends Outcome {
  readonly serverMicroseconds: number
  readonly postgresMicroseconds: number
  readonly loadMicroseconds: number
}

export type Results = Readonly<Record<ContenderName, readonly Measured[]>>

export interface Latencies {
  /** One request after the other. */
  readonly single: readonly Measured[]
  /** Half of what was the most, at a steady pace. */
  readonly half: readonly Measured[]
}

export async function runLoad(
  { load, postgres }: Runner,
  { address, tokens, source, pid }: Contender,
  { packages, clients, ...span }: RunOptions,
): Promise<Measured> {
  if (!source.isRepeated) await load.call('fill', source.stock, packages)
  const target = { ...address, tokens: await tokens.fresh() }
  await load.call('connect', address, clients)
  const roots = [[pid], [postgres.pid()], [load.pid]] as const
  const before = roots.map(cpuSeconds)
  const outcome = await load.call('run', { ...span, target, source, status: ACCEPTED })
  const [server = 0, database = 0, own = 0] = roots.map(
    (root, i) => ((cpuSeconds(root) - (before[i] ?? 0)) * 1e6) / outcome.requests,
  )
  return {
    ...outcome,
    serverMicroseconds: server,
    postgresMicroseconds: database,
    loadMicroseconds: own,
  }
}
