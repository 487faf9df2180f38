/** `npm run test:outside`: runs third-party tools against a running exchange and its OpenAPI document. */

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startOutsideExchange } from './exchange.ts'
import { tryGeneratedClients } from './generated-clients.ts'
import { createReport } from './report.ts'
import { trySchemathesis } from './schemathesis.ts'

const HELP = `Runs schemathesis and openapi-generator against a new exchange; exits 1 if one finds a defect.

  npm run test:outside                 both; a missing tool is skipped with its reason
  npm run test:outside -- schemathesis
  npm run test:outside -- clients`

const TRIALS = { schemathesis: trySchemathesis, clients: tryGeneratedClients } as const
type Trial = keyof typeof TRIALS

const wanted = process.argv.slice(2)
const unknown = wanted.find((name) => !Object.hasOwn(TRIALS, name))
if (unknown !== undefined) {
  console.log(HELP)
  if (!/^(?:-h|--help)$/u.test(unknown)) process.exitCode = 2
} else await run()

async function run(): Promise<void> {
  const report = createReport()
  const folder = mkdtempSync(join(tmpdir(), 'aex-outside-'))
  // A signal alone would not run the exit handlers, which end child processes such as the database.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1))
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
  try {
    await using exchange = await startOutsideExchange(folder)
    for (const name of Object.keys(TRIALS) as Trial[]) {
      if (wanted.length === 0 || wanted.includes(name)) await TRIALS[name]({ exchange, folder, report })
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
  report.print()
  if (report.failed()) process.exitCode = 1
}
