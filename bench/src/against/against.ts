import type { Against } from '../command-line.ts'
import { startReceiver } from '../delivery/receiver.ts'
import { explained, startBed, type TestBed } from '../exchange/test-bed.ts'
import {
  endpointsOf,
  provision,
  type DeliveringExchange,
  type Layout,
  type Rig,
  type StartProcesses,
} from '../exchange/delivering-exchange.ts'
import { startLoad } from '../load/load.ts'
import { AEX } from '../processes/serve.ts'
import { median } from '../statistics.ts'
import type { Compared } from './against-report.ts'
import { RECEIVERS, warmUp, type Comparison } from './comparisons.ts'
import { checkOut, describeWorkingTree, resolveRevision } from './revision.ts'
import { alternate, estimatedMinutes, type Round, type Series, type Side } from './rounds.ts'

/** Creating an organization takes two commands, so there are few; each has eight connections at 64 clients. */
const SENDERS = 8

export interface AgainstSettings {
  readonly against: Against
  readonly workers: number
  readonly cleanup: AsyncDisposableStack
  readonly progress: (text: string) => void
  /** Called before anything is started, with the estimate. */
  readonly onStart: (compared: Compared, minutes: number) => void
}

export interface AgainstRun {
  readonly compared: Compared
  readonly series: readonly Series[]
  readonly bed: TestBed
}

/** Alternates this working tree and another revision, both driven by the load generator of this one. */
export async function runAgainst({
  against: { ref, rounds, comparisons },
  workers,
  cleanup,
  progress,
  onStart,
}: AgainstSettings): Promise<AgainstRun> {
  const commit = await resolveRevision(ref)
  const compared = { ref, commit, workingTree: await describeWorkingTree(), rounds }
  onStart(compared, estimatedMinutes(comparisons, rounds))
  const bed = cleanup.use(await startBed(workers))
  progress(`checking out and installing ${ref}`)
  const revision = await checkOut(ref, commit, bed.folder.path, cleanup)
  const rig: Rig = {
    load: cleanup.use(startLoad()),
    receiver: await startReceiver(bed, cleanup, endpointsOf(RECEIVERS)),
    postgres: bed.postgres,
  }
  const prepare = (name: string, program: string): Promise<StartProcesses> =>
    provision(bed, rig, cleanup, { name, program, senders: SENDERS, receivers: RECEIVERS })
  progress('making organizations in the exchange of the working tree')
  const here = await prepare('working_tree', AEX)
  progress(`making organizations in the exchange of ${ref}`)
  const start: Sides<StartProcesses> = { here, there: await prepare('other_revision', revision.program) }
  const names: Sides<string> = { here: 'the working tree', there: ref }

  /** New processes in each round, because JIT compilation and garbage collection vary between processes. */
  async function startRound(round: number, order: readonly Side[], layout: Layout): Promise<Round> {
    await using undo = new AsyncDisposableStack()
    const exchanges = new Map<Side, DeliveringExchange>()
    for (const side of order) {
      progress(`round ${round}/${rounds}: starting and warming up ${names[side]}`)
      const exchange = undo.use(await start[side](layout, `${layout}-${round}`))
      exchanges.set(side, exchange)
      await warmUp(rig, exchange)
    }
    const processes = undo.move()
    return {
      measure(comparison, side) {
        progress(`round ${round}/${rounds}: ${comparison.name} of ${names[side]}`)
        return comparison.measure(rig, exchanges.get(side) as DeliveringExchange, round)
      },
      [Symbol.asyncDispose]: () => processes.disposeAsync(),
    }
  }
  let begun = 0
  const series = await alternate(comparisons, rounds, startRound, (round, soFar) => {
    if (round === 0) begun = performance.now()
    else {
      const minutes = ((performance.now() - begun) / round / 60_000) * (rounds - round)
      const ratios = ratiosOf(comparisons, soFar)
      progress(`round ${round}/${rounds} done: ${ratios}; ${minutes.toFixed(0)} minutes left`)
    }
  }).catch((error: unknown) => {
    throw explained(error, bed)
  })
  return { compared, series, bed }
}

type Sides<T> = Readonly<Record<Side, T>>

/** Median ratios so far, of the first metric of each comparison. */
function ratiosOf(comparisons: readonly Comparison[], series: readonly Series[]): string {
  const first = series.filter(({ metric }) => comparisons.some(({ metrics }) => metrics[0] === metric))
  return first
    .map(({ metric, here, there }) => {
      const ratios = here.map((value, round) => value / (there[round] ?? Number.NaN))
      return `${metric.label} ${median(ratios).toFixed(2)}`
    })
    .join(', ')
}
