import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import type { Area } from './area.ts'

const SIZES = [10_000, 1_000_000]
const MAXIMUM_WORKERS = 64

export interface Options {
  readonly help: boolean
  readonly quick: boolean
  readonly json: string | undefined
  readonly svg: string | undefined
  readonly areas: readonly Area[]
  readonly workers: number
  readonly sizes: readonly number[]
}

/** Something that the person at the keyboard can mend. */
export class UsageError extends Error {
  override readonly name = 'UsageError'
}

/** Reads the command line; areas may be named by `--area` or by themselves. */
export function readCommandLine(args: readonly string[], known: readonly Area[]): Options {
  const { values, positionals } = parse(args)
  const wanted = [...(values.area ?? []), ...positionals]
  const unknown = wanted.filter((name) => !known.some((area) => area.name === name))
  if (unknown.length > 0) throw new UsageError(`There is no area ${unknown.join(', ')}. Try --help.`)
  const usual = known.filter(({ isLong }) => !(values.quick && isLong))
  return {
    help: values.help,
    quick: values.quick,
    json: values.json,
    svg: values.svg,
    areas: wanted.length === 0 ? usual : known.filter(({ name }) => wanted.includes(name)),
    workers: workersOf(values.workers),
    sizes: values.sizes === undefined ? SIZES : values.sizes.split(',').map(sizeOf),
  }
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
        workers: { type: 'string', default: '1' },
        sizes: { type: 'string' },
        help: { type: 'boolean', short: 'h', default: false },
      },
    })
  } catch (error) {
    throw new UsageError(`${error instanceof Error ? error.message : String(error)} Try --help.`)
  }
}

function workersOf(text: string): number {
  const workers = Number(text)
  if (Number.isInteger(workers) && workers >= 1 && workers <= MAXIMUM_WORKERS) return workers
  throw new UsageError(`--workers is a number of processes from 1 to ${MAXIMUM_WORKERS}.`)
}

function sizeOf(text: string): number {
  const size = Number(text)
  if (Number.isInteger(size) && size >= 1_000) return size
  throw new UsageError('--sizes are numbers of packages from 1000 on, such as 10000,1000000.')
}

export function helpText(areas: readonly Area[]): string {
  const list = areas.map(
    ({ name, what, isLong }) => `  ${name.padEnd(12)} ${what}${isLong ? ' (not with --quick)' : ''}`,
  )
  return `npm run bench -- [options] [area...]

Measures this machine and prints a table for each area. Everything is real: aex serve in a process of its own,
PostgreSQL with fsync, signatures, tokens, TLS. Compare ratios between machines and runs, not figures.

Areas, all unless named:
${list.join('\n')}

  --quick        fewer and shorter repetitions: about two minutes on two cores
  --area NAME    only this area; may be repeated
  --workers N    API processes of the service, of the floor and of the naive server (default 1; ${availableParallelism()} cores here)
  --sizes A,B    stored packages for the area growth (default ${SIZES.join(',')})
  --json FILE    also write {"ratios": …, "figures": …, "machine": …}
  --svg FILE     also write a plot of the ratios
  --help         this text

Databases are made in a new folder in TMPDIR, or in AEX_BENCH_DIR, and removed at the end.

Examples:
  npm run bench -- --quick
  npm run bench -- --quick --json result.json --svg result.svg
  npm run bench -- --area packages --area delivery
  npm run bench -- --area growth --sizes 10000,100000
  npm run bench -- --area packages --workers 2`
}
