import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import type { Comparison } from './against/comparisons.ts'
import type { Area } from './area.ts'
import { FLAG_SETS, parseFlagSets, type FlagSet } from './memory/flag-sets.ts'

const SIZES = '10000,1000000'
const ROUNDS = 20

/** Options that are numbers, with their limits. */
const NUMBERS = {
  workers: { usual: 1, least: 1, most: 64, what: 'a number of processes' },
  rounds: { usual: ROUNDS, least: 2, most: 1_000, what: `a number (a result needs at least ${ROUNDS})` },
  'per-day': { usual: 1_000_000, least: 1, most: 1_000_000_000, what: 'a number of packages' },
  minutes: { usual: undefined, least: 1, most: 120, what: 'a number of minutes' },
  sizes: { usual: 0, least: 1_000, most: 100_000_000, what: 'numbers of packages, such as 10000,1000000' },
} as const

export interface Options {
  readonly help: boolean
  readonly quick: boolean
  readonly json: string | undefined
  readonly svg: string | undefined
  readonly areas: readonly Area[]
  readonly workers: number
  readonly sizes: readonly number[]
  readonly perDay: number
  readonly minutes: number | undefined
  /** If set, the area `memory` measures these sets of flags only; an empty list skips all of them. */
  readonly flagSets: readonly FlagSet[] | undefined
  /** If set, two revisions are compared and no area runs. */
  readonly against: Against | undefined
}

/** A comparison of this working tree with another revision. */
export interface Against {
  readonly ref: string
  readonly rounds: number
  readonly comparisons: readonly Comparison[]
}

/** The names that the command line accepts. */
export interface Known {
  readonly areas: readonly Area[]
  readonly comparisons: readonly Comparison[]
}

/** An invalid command line. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Reads the command line; areas are given by `--area` or as arguments. */
export function readCommandLine(args: readonly string[], { areas, comparisons }: Known): Options {
  const { values, positionals } = parse(args)
  const wanted = [...(values.area ?? []), ...positionals]
  const isWanted = ({ name }: { readonly name: string }) => wanted.includes(name)
  const isAgainst = values.against !== undefined
  refuseUnknown(wanted, isAgainst ? comparisons : areas)
  if (!isAgainst && values.rounds !== undefined) throw new UsageError('--rounds needs --against.')
  if (isAgainst && (values.quick || values.svg !== undefined || values.sizes !== undefined)) {
    throw new UsageError('--quick, --svg and --sizes cannot be combined with --against.')
  }
  const usual = areas.filter(({ isLong }) => !(values.quick && isLong))
  return {
    help: values.help,
    quick: values.quick,
    json: values.json,
    svg: values.svg,
    areas: wanted.length === 0 ? usual : areas.filter(isWanted),
    workers: numberOf('workers', values.workers),
    sizes: (values.sizes ?? SIZES).split(',').map((size) => numberOf('sizes', size)),
    perDay: numberOf('per-day', values['per-day']),
    minutes: values.minutes === undefined ? undefined : numberOf('minutes', values.minutes),
    flagSets: flagSetsOf(values.flags),
    against:
      values.against === undefined
        ? undefined
        : {
            ref: values.against,
            rounds: numberOf('rounds', values.rounds),
            comparisons: wanted.length === 0 ? comparisons : comparisons.filter(isWanted),
          },
  }
}

function refuseUnknown(wanted: readonly string[], known: readonly { readonly name: string }[]): void {
  const unknown = wanted.filter((name) => !known.some((each) => each.name === name))
  if (unknown.length === 0) return
  const names = known.map(({ name }) => name).join(', ')
  throw new UsageError(`Unknown area ${unknown.join(', ')}. Available: ${names}. Try --help.`)
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowPositionals: true,
      options: {
        quick: { type: 'boolean', default: false },
        json: { type: 'string' },
        svg: { type: 'string' },
        area: { type: 'string', multiple: true },
        workers: { type: 'string' },
        sizes: { type: 'string' },
        'per-day': { type: 'string' },
        minutes: { type: 'string' },
        flags: { type: 'string', multiple: true },
        against: { type: 'string' },
        rounds: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)} Try --help.`)
  }
}

function flagSetsOf(values?: readonly string[]): readonly FlagSet[] | undefined {
  const sets = values && parseFlagSets(values)
  if (sets !== 'unknown') return sets
  throw new UsageError(
    `--flags is none, flags of V8 after an equals sign, or: ${FLAG_SETS.map(({ name }) => name).join(', ')}.`,
  )
}

function numberOf(name: keyof typeof NUMBERS, text?: string): number {
  const { usual, least, most, what } = NUMBERS[name]
  const value = Number(text ?? usual)
  if (Number.isInteger(value) && value >= least && value <= most) return value
  throw new UsageError(`--${name} is ${what}, from ${least} to ${most}.`)
}

export function helpText({ areas, comparisons }: Known): string {
  const compared = comparisons.map(({ name, what }) => `  ${name.padEnd(12)} ${what}`)
  const list = areas.map(
    ({ name, what, isLong }) => `  ${name.padEnd(12)} ${what}${isLong ? ' (not with --quick)' : ''}`,
  )
  return `npm run bench -- [options] [area...]
npm run bench -- --against REF [--area NAME] [--rounds N] [--json FILE]

Measures this machine and prints a table for each area. The benchmark runs the real service: aex serve in its own
process, PostgreSQL with fsync, signatures, tokens, TLS. Compare ratios between machines and runs, not absolute figures.

Areas (default: all):
${list.join('\n')}

  --quick        fewer and shorter repetitions: about two minutes on two cores
  --area NAME    only this area; may be repeated
  --workers N    API processes of the service, the floor and the naive server (default 1; this machine has ${availableParallelism()} cores)
  --sizes A,B    stored packages for the area growth (default ${SIZES})
  --per-day N    packages a day for the area sizing (default ${NUMBERS['per-day'].usual})
  --minutes N    length of the load of the areas memory (default 5) and steady (default 30)
  --flags=SET    the area memory measures only this set of flags; may be repeated. none skips them; a set is flags
                 and variables ("--flags=--max-semi-space-size=8 MALLOC_ARENA_MAX=2") or one of:
                 ${FLAG_SETS.map(({ name }) => name).join(', ')}
  --json FILE    also write {"ratios": …, "intervals": …, "figures": …, "machine": …}
  --svg FILE     also write a plot of the ratios; the area steady writes FILE-steady.svg
  --help         this text

  --against REF  compare this working tree with another revision: a branch, a tag or a commit of this repository, which is
                 installed in a temporary worktree. Both alternate; the result is ratios with 95% intervals
  --rounds N     rounds of --against (default ${ROUNDS})

Areas of --against (default: all):
${compared.join('\n')}

Databases are created in a new folder in TMPDIR or AEX_BENCH_DIR and removed at the end.

Examples:
  npm run bench -- --quick
  npm run bench -- --quick --json result.json --svg result.svg
  npm run bench -- --area packages --area delivery
  npm run bench -- --area growth --sizes 10000,100000
  npm run bench -- --area sizing --per-day 1000000
  npm run bench -- --area packages --workers 2
  npm run bench -- --area end-to-end
  npm run bench -- --area steady --minutes 6 --svg result.svg
  npm run bench -- --area memory --flags=first-release --flags=semi-space-8
  npm run bench -- --against main
  npm run bench -- --against v0.1.0 --area packages --rounds 40 --json result.json`
}
