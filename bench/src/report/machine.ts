import { availableParallelism, cpus, loadavg, release, totalmem } from 'node:os'

/** The machine of the figures. */
export interface Machine {
  readonly node: string
  readonly platform: string
  readonly processor: string
  readonly cores: number
  readonly memory_gb: number
  readonly load_average: number
  /** API processes of the service. */
  readonly workers: number
  readonly quick: boolean
  readonly postgres?: string
  /** Time to make one page durable where the databases were. */
  readonly fsync_ms?: number
  /** Share of the machine that others used, by area. */
  readonly foreign_cpu: Readonly<Record<string, number>>
}

export function describeMachine(
  given: Pick<Machine, 'workers' | 'quick' | 'foreign_cpu' | 'postgres' | 'fsync_ms'>,
): Machine {
  return {
    node: process.version,
    platform: `${process.platform} ${process.arch} ${release()}`,
    processor: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memory_gb: Math.round(totalmem() / 2 ** 30),
    load_average: Number((loadavg()[0] ?? 0).toFixed(2)),
    ...given,
  }
}
