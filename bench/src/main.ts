import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { againstJson, formatAgainst } from './against/against-report.ts'
import { runAgainst } from './against/against.ts'
import { COMPARISONS } from './against/comparisons.ts'
import { AREAS } from './areas.ts'
import { helpText, readCommandLine, UsageError, type Against, type Options } from './command-line.ts'
import { foreignShare, readCpu } from './processes/cpu.ts'
import { DISTURBING_SHARE, runAreas } from './run-areas.ts'
import { toJson } from './report/json.ts'
import { describeMachine } from './report/machine.ts'
import { toSvg } from './report/svg.ts'
import { formatRatios, formatResult } from './report/tables.ts'

/** Progress goes to stderr, so that the tables on stdout stay clean. */
function showProgress(text: string): void {
  const line = text === '' ? '' : `${Math.round(performance.now() / 1_000)} s  ${text}`
  if (process.stderr.isTTY) process.stderr.write(`\r\u001B[K${line}`)
  else if (line !== '') process.stderr.write(`${line}\n`)
}

async function main(options: Options, cleanup: AsyncDisposableStack): Promise<void> {
  console.log(`Node ${process.version}, ${process.arch}, ${availableParallelism()} cores\n`)
  if (options.against) await compareRevisions(options, options.against, cleanup)
  else await measureAreas(options, cleanup)
}

async function measureAreas(options: Options, cleanup: AsyncDisposableStack): Promise<void> {
  const { results, machine } = await runAreas({
    options,
    cleanup,
    progress: showProgress,
    onResult(result, foreign) {
      showProgress('')
      console.log(formatResult(result))
      warnOfOthers(foreign)
    },
  })
  const ratios = results.flatMap((result) => result.ratios ?? [])
  if (ratios.length > 0) console.log(formatRatios(ratios))
  await writeJson(options, toJson(results, machine))
  if (options.svg === undefined) return
  await writeFile(place(options.svg), toSvg(ratios, machine))
  for (const { plot } of results) if (plot) await writeFile(place(plotFile(options.svg, plot.name)), plot.svg)
}

async function compareRevisions(
  options: Options,
  against: Against,
  cleanup: AsyncDisposableStack,
): Promise<void> {
  const before = readCpu()
  const { series, compared, bed } = await runAgainst({
    against,
    workers: options.workers,
    cleanup,
    progress: showProgress,
    onStart: ({ ref, rounds }, minutes) =>
      console.log(`${rounds} rounds against ${ref}: about ${minutes} minutes on two cores\n`),
  })
  const after = readCpu()
  const foreign = before && after ? foreignShare(before, after) : 0
  showProgress('')
  console.log(formatAgainst(series, compared))
  warnOfOthers(foreign)
  const machine = describeMachine({
    workers: options.workers,
    quick: false,
    foreign_cpu: { against: Number(foreign.toFixed(3)) },
    postgres: bed.postgres.version,
    fsync_ms: Number(bed.folder.fsyncMs.toFixed(3)),
  })
  await writeJson(options, againstJson(series, compared, machine))
}

function warnOfOthers(foreign: number): void {
  if (foreign <= DISTURBING_SHARE) return
  const percent = Math.round(foreign * 100)
  console.log(
    `Warning: other processes used ${percent}% of this machine; repeat the run on an idle machine.\n`,
  )
}

async function writeJson({ json }: Options, result: object): Promise<void> {
  if (json !== undefined) await writeFile(place(json), `${JSON.stringify(result, null, 2)}\n`)
}

const plotFile = (file: string, name: string) => `${file.replace(/\.svg$/u, '')}-${name}.svg`

/** npm runs in the workspace; paths are relative to the folder of the user. */
function place(file: string): string {
  return resolve(process.env['INIT_CWD'] ?? '.', file)
}

const cleanup = new AsyncDisposableStack()
let isStopping = false
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    isStopping = true
    console.error('\nStopping what was started')
    void cleanup.disposeAsync().finally(() => process.exit(1))
  })
}
try {
  const known = { areas: AREAS, comparisons: COMPARISONS }
  const options = readCommandLine(process.argv.slice(2), known)
  if (options.help) console.log(helpText(known))
  else await main(options, cleanup)
} catch (error) {
  showProgress('')
  // Failures caused by the shutdown are not reported.
  if (!isStopping) console.error(error instanceof UsageError ? error.message : error)
  process.exitCode = error instanceof UsageError ? 2 : 1
} finally {
  await cleanup.disposeAsync()
}
