import type { Area, AreaContext, AreaResult } from './area.ts'
import type { Options } from './command-line.ts'
import { explained, startBed, type TestBed } from './exchange/test-bed.ts'
import { foreignShare, readCpu } from './processes/cpu.ts'
import { figuresOf } from './report/json.ts'
import { describeMachine, type Machine } from './report/machine.ts'

/** Above this share, other processes affect the figures. */
export const DISTURBING_SHARE = 0.1

export interface Run {
  readonly results: readonly AreaResult[]
  readonly machine: Machine
}

export interface RunSettings {
  readonly options: Options
  readonly cleanup: AsyncDisposableStack
  readonly progress: (text: string) => void
  readonly onResult: (result: AreaResult, foreign: number) => void
}

/** Runs the areas in sequence; areas that need an exchange share one. */
export async function runAreas({ options, cleanup, progress, onResult }: RunSettings): Promise<Run> {
  const { areas, quick, workers, sizes, perDay, minutes, flagSets } = options
  const results: AreaResult[] = []
  const foreign: Record<string, number> = {}
  let bed: Promise<TestBed> | undefined
  const start = async () => cleanup.use(await startBed(workers))
  const contextFor = ({ name }: Area): AreaContext => ({
    quick,
    workers,
    sizes,
    perDay,
    minutes,
    flagSets,
    progress: (what) => progress(`${name}: ${what}`),
    bed: () => (bed ??= start()),
    earlier: (wanted) =>
      results.flatMap(({ tables }) => tables.flatMap(figuresOf)).find(([id]) => id === wanted)?.[1],
  })
  for (const area of areas) {
    const before = readCpu()
    const result = await area.run(contextFor(area)).catch(async (error: unknown) => {
      throw explained(error, await bed)
    })
    const after = readCpu()
    const share = before && after ? foreignShare(before, after) : 0
    foreign[area.name] = Number(share.toFixed(3))
    results.push(result)
    onResult(result, share)
  }
  const { postgres, folder } = (await bed) ?? {}
  const machine = describeMachine({
    workers,
    quick,
    foreign_cpu: foreign,
    ...(postgres && { postgres: postgres.version }),
    ...(folder && { fsync_ms: Number(folder.fsyncMs.toFixed(3)) }),
  })
  return { results, machine }
}
