import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { resolve } from 'node:path'
import { AREAS } from './areas.ts'
import { helpText, readCommandLine, UsageError, type Options } from './command-line.ts'
import { DISTURBING_SHARE, runAreas } from './run-areas.ts'
import { toJson } from './report/json.ts'
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
  const { results, machine } = await runAreas({
    options,
    cleanup,
    progress: showProgress,
    onResult(result, foreign) {
      showProgress('')
      console.log(formatResult(result))
      if (foreign > DISTURBING_SHARE) {
        const percent = Math.round(foreign * 100)
        console.log(`Warning: others used ${percent}% of this machine meanwhile; repeat it on a quiet one.\n`)
      }
    },
  })
  const ratios = results.flatMap((result) => result.ratios ?? [])
  if (ratios.length > 0) console.log(formatRatios(ratios))
  if (options.json !== undefined) {
    await writeFile(place(options.json), `${JSON.stringify(toJson(results, machine), null, 2)}\n`)
  }
  if (options.svg !== undefined) await writeFile(place(options.svg), toSvg(results, machine))
}

/** npm runs us in the workspace; people mean the folder that they are in. */
function place(file: string): string {
  return resolve(process.env['INIT_CWD'] ?? '.', file)
}

const cleanup = new AsyncDisposableStack()
for (const signal of ['SIGINT', 'SIGTERM'] as const) {
  process.once(signal, () => {
    console.error('\nStopping what was started')
    void cleanup.disposeAsync().finally(() => process.exit(1))
  })
}
try {
  const options = readCommandLine(process.argv.slice(2), AREAS)
  if (options.help) console.log(helpText(AREAS))
  else await main(options, cleanup)
} catch (error) {
  showProgress('')
  console.error(error instanceof UsageError ? error.message : error)
  process.exitCode = error instanceof UsageError ? 2 : 1
} finally {
  await cleanup.disposeAsync()
}
