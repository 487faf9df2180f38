import { writeFile } from 'node:fs/promises'
import { availableParallelism } from 'node:os'
import { parseArgs } from 'node:util'
import type { Area, AreaResult } from './area.ts'
import { cryptoArea } from './crypto.ts'
import { es256WaysArea } from './es256-ways.ts'
import { FULL, QUICK } from './measure.ts'
import { formatTable, toJson } from './report.ts'

const AREAS: readonly Area[] = [cryptoArea, es256WaysArea]

const HELP = `npm run bench -- [options] [area...]

Measures and prints a table per area: calls per second, time per call, and the ratio to a reference
that was taken in the same run. Compare ratios between machines and runs, not figures.

  areas        ${AREAS.map(({ name }) => name).join(', ')} (all unless named)
  --quick      shorter and fewer repetitions
  --json FILE  also write {"ratios": …, "figures": …}
  --help       this text`

function readArguments() {
  return parseArgs({
    allowPositionals: true,
    options: {
      quick: { type: 'boolean', default: false },
      json: { type: 'string' },
      help: { type: 'boolean', default: false },
    },
  })
}

/** Progress goes to stderr, so that the table on stdout stays clean. */
function showProgress(text: string): void {
  if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${text}`)
  else if (text !== '') process.stderr.write(`${text}\n`)
}

async function main(): Promise<void> {
  const { values, positionals } = readArguments()
  if (values.help) {
    console.log(HELP)
    return
  }
  const unknown = positionals.filter((name) => !AREAS.some((area) => area.name === name))
  if (unknown.length > 0) throw new Error(`There is no area ${unknown.join(', ')}. Try --help.`)
  const chosen = positionals.length === 0 ? AREAS : AREAS.filter(({ name }) => positionals.includes(name))

  console.log(`Node ${process.version}, ${process.arch}, ${availableParallelism()} cores\n`)
  const results: AreaResult[] = []
  for (const area of chosen) {
    const result = await area.run({
      effort: values.quick ? QUICK : FULL,
      progress: (what) => showProgress(`${area.name}: ${what}`),
    })
    showProgress('')
    console.log(formatTable(result))
    results.push(result)
  }
  if (values.json !== undefined) await writeFile(values.json, `${JSON.stringify(toJson(results), null, 2)}\n`)
}

try {
  await main()
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
